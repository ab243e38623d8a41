import type { Fields, RouteAnswer } from '../data/rows.ts';

type Options = RouteAnswer<'passkeys.beginSignIn'>['options'];
type Credential = Fields<'passkeys.signIn'>['credential'];

/** Browsers offer passkeys only over https and on localhost. */
export const hasPasskeys = (): boolean =>
  typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function';

/** Creates a passkey for this server on the device. */
export const makePasskey = (options: Options): Promise<Credential> =>
  saidBy(() =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options as never) }),
  );

/** Signs in with a passkey of the device. */
export const showPasskey = (options: Options): Promise<Credential> =>
  saidBy(() =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options as never) }),
  );

async function saidBy(ask: () => Promise<globalThis.Credential | null>): Promise<Credential> {
  try {
    const given = (await ask()) as PublicKeyCredential | null;
    if (given) return given.toJSON() as unknown as Credential;
  } catch (error) {
    throw new Error(sentences[(error as DOMException).name] ?? sentences.NotAllowedError, { cause: error });
  }
  throw new Error(sentences.NotAllowedError);
}

/** By error name. `NotAllowedError` covers both a refusal and a missing passkey. */
const sentences: Readonly<Record<string, string>> = {
  NotAllowedError:
    'No passkey was used. The request was cancelled, timed out, or the device has no passkey for this server.',
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: 'Passkeys work only at the server’s public address, and this page is open at another one.',
  NotSupportedError: 'This device cannot create a passkey. Use another device or a security key.',
};
