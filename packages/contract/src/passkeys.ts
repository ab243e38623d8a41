import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { consoleSession } from './members.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route, signInAttempts } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { time } from './time.ts';

const passkey = z.object({
  object: tag('passkey'),
  id: id('pky').meta({ description: 'The id for renaming and removing it.' }),
  name: z.string().meta({ description: 'The passkey’s name.', example: 'Laptop' }),
  created_at: time.meta({ description: 'When it was registered.' }),
  last_used_at: time.nullable().meta({ description: 'When it was last used to sign in.' }),
});

const name = text(1, 100).meta({ description: 'The name of the passkey.', example: 'Laptop' });
const passkeyParams = z.strictObject({
  passkey_id: failsWith('passkey_not_found', id('pky')).meta({ description: 'One of your passkeys.' }),
});

/** The browser's WebAuthn data. The library validates every part of it. */
const credential = z
  .looseObject({
    id: z.string().min(1).max(2048).meta({ description: 'The id of the credential.' }),
    response: z.looseObject({}).meta({ description: 'The device’s response.' }),
  })
  .meta({ description: 'The result of `navigator.credentials`, converted with `toJSON()`.' });
const options = z
  .looseObject({ challenge: z.string().meta({ description: 'The value that the device signs.' }) })
  .meta({ description: 'For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`.' });

/** Sign-in with a device, in addition to the password. */
export const passkeys = {
  list: route({
    method: 'GET',
    path: '/v1/console/passkeys',
    auth: 'console',
    summary: 'List your passkeys, newest first.',
    description:
      'Needs the console’s cookie. Passkeys belong to the login and are valid for every org of its password.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(passkey),
    errors: [],
    command: null,
  }),
  beginRegistration: route({
    method: 'POST',
    path: '/v1/console/passkeys/registration',
    auth: 'console',
    summary: 'Start to register a passkey; needs the password.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. Sets a cookie that binds the next step to this browser, for ten minutes and one use.',
    body: z.strictObject({
      password: z.string().min(1).max(256).meta({ description: 'The password of the login.' }),
    }),
    status: 200,
    response: z.object({ object: tag('passkey_options'), options }),
    errors: ['password_wrong', 'password_not_used', 'passkeys_unavailable', 'too_many_passkeys', 'rate_limited'],
    command: null,
  }),
  register: route({
    method: 'POST',
    path: '/v1/console/passkeys',
    auth: 'console',
    summary: 'Register the passkey that the browser created, within ten minutes and in the same browser.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. The device must have verified the user by finger, face or PIN.',
    body: z.strictObject({ name, credential }),
    status: 201,
    response: passkey,
    errors: ['passkey_refused', 'passkeys_unavailable', 'password_not_used', 'too_many_passkeys'],
    command: null,
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/console/passkeys/{passkey_id}',
    auth: 'console',
    summary: 'Rename a passkey.',
    description: 'Needs the console’s cookie and `X-CSRF-Token`. Only you see the name.',
    params: passkeyParams,
    body: z.strictObject({ name }),
    status: 200,
    response: passkey,
    errors: [],
    command: null,
  }),
  remove: route({
    method: 'DELETE',
    path: '/v1/console/passkeys/{passkey_id}',
    auth: 'console',
    summary: 'Remove a passkey; it can no longer be used to sign in.',
    description: 'Needs the console’s cookie and `X-CSRF-Token`. Browsers that are logged in stay logged in.',
    params: passkeyParams,
    status: 200,
    response: deleted('passkey'),
    errors: [],
    command: null,
  }),
  beginSignIn: route({
    method: 'POST',
    path: '/v1/console/passkeys/sign-in-options',
    auth: 'open',
    perAddress: signInAttempts,
    summary: 'Start to sign in with a passkey.',
    description:
      'Needs no credential and no name: the device offers its keys. Sets a cookie that binds the sign-in to this browser.',
    status: 200,
    response: z.object({ object: tag('passkey_options'), options }),
    errors: ['passkeys_unavailable', 'rate_limited'],
    command: null,
  }),
  signIn: route({
    method: 'POST',
    path: '/v1/console/passkeys/sign-in',
    auth: 'open',
    perAddress: signInAttempts,
    summary: 'Sign in with a passkey; sets the console’s cookie and returns the CSRF token.',
    description:
      'Needs the cookie of `POST /v1/console/passkeys/sign-in-options`. Challenge, origin, signature and the device’s counter are checked.',
    body: z.strictObject({ credential }),
    status: 200,
    response: consoleSession,
    errors: ['login_failed', 'passkeys_unavailable', 'rate_limited'],
    command: null,
  }),
};
