import { fail } from '@vestra/contract/errors';
import type { Transaction } from '../../db/pool.ts';
import { insertLogin, lockLogin } from './login-store.ts';
import { hashPassword, verifyPassword } from './password.ts';

/**
 * Gives the email its login, or proves that the caller knows the password of the one it has: nobody takes
 * over a person's login by having an org invite their email.
 */
export async function enterLogin(
  tx: Transaction,
  { email, password, otherwise }: { email: string; password: string; otherwise?: string },
): Promise<void> {
  for (;;) {
    const login = await lockLogin(tx, email, 'update');
    if (login) {
      if (await verifyPassword(password, login.password_hash)) return;
      throw fail('login_failed', otherwise ? { message: otherwise } : {});
    }
    if (await insertLogin(tx, email, await hashPassword(password))) return;
  }
}
