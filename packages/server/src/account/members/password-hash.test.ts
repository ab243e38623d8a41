import { argon2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashPassword, portableArgon2id, unmatchableHash, verifyPassword } from './password-hash.ts';

describe('a password hash', () => {
  it('is argon2id with its cost and its own salt [MBR-013]', async () => {
    const [one, two] = await Promise.all([
      hashPassword('correct horse battery'),
      hashPassword('correct horse battery'),
    ]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(two);
    expect(one).not.toContain('correct');
  });

  it('matches its password and no other', async () => {
    const stored = await hashPassword('correct horse battery');
    expect(await verifyPassword('correct horse battery', stored)).toBe(true);
    expect(await verifyPassword('correct horse batterz', stored)).toBe(false);
    expect(await verifyPassword('', stored)).toBe(false);
  });

  it('is the same for composed and decomposed characters', async () => {
    expect(await verifyPassword('cafe\u0301 cafe\u0301 cafe', await hashPassword('café café cafe'))).toBe(true);
  });

  it('is checked with the cost in the hash', async () => {
    const nonce = Buffer.from('a salt of sixteen');
    const tag = argon2Sync('argon2id', {
      message: 'older',
      nonce,
      memory: 64,
      passes: 3,
      parallelism: 2,
      tagLength: 24,
    });
    const [salt64, tag64] = [nonce, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
    expect(await verifyPassword('older', `$argon2id$v=19$m=64,t=3,p=2$${salt64}$${tag64}`)).toBe(true);
  });

  it.each([
    ['the cost of today', { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }],
    ['another', { memory: 64, passes: 3, parallelism: 2, tagLength: 24 }],
  ])('has the same hash on a Node without argon2, at %s [PKG-002]', async (_name, cost) => {
    const parameters = { ...cost, message: Buffer.from('pässword'), nonce: Buffer.from('a salt of sixteen') };
    expect(await portableArgon2id(parameters)).toEqual(argon2Sync('argon2id', parameters));
    const empty = await portableArgon2id({ ...parameters, message: Buffer.alloc(0) });
    expect(empty).not.toEqual(argon2Sync('argon2id', { ...parameters, message: '' }));
  });

  it('takes as long for an unknown email, and never matches', async () => {
    expect(unmatchableHash.split('$').slice(0, 4)).toEqual((await hashPassword('x')).split('$').slice(0, 4));
    expect(await verifyPassword('', unmatchableHash)).toBe(false);
  });

  it('throws if the stored value is not a hash', async () => {
    await expect(verifyPassword('x', 'plain text')).rejects.toThrow('not an argon2id PHC string');
  });
});
