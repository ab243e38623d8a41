import { area } from '../requirement.ts';

export const members = area('members', 'done', [
  [
    'MBR-001',
    'docs/api/members.md#member',
    'A member is `{object: member, id, email, name, role, status, created_at}` with status `active` or `invited`.',
  ],
  ['MBR-002', 'docs/api/members.md#get-v1members', '`GET /v1/members` lists the members of the org.'],
  [
    'MBR-003',
    'docs/api/members.md#post-v1members',
    '`POST /v1/members` accepts `{email, role}`, creates an invited member and returns an invite link.',
  ],
  [
    'MBR-004',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    "`PATCH /v1/members/{id}` changes a member's role, for an owner or admin only.",
  ],
  [
    'MBR-005',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    '`DELETE /v1/members/{id}` removes a member, for an owner or admin only.',
  ],
  [
    'MBR-006',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'A developer who invites, changes or removes a member answers 403 `role_missing`.',
  ],
  [
    'MBR-007',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'The last owner of an org can be neither removed nor given another role.',
  ],
  [
    'MBR-008',
    'docs/api/members.md#post-v1membersaccept',
    '`POST /v1/members/accept` accepts `{token, name, password}`, makes the member active and allows the login.',
  ],
  [
    'MBR-009',
    'docs/api/console-access.md#post-v1consolelogin',
    '`POST /v1/console/login` accepts `{email, password}` and sets an HttpOnly cookie.',
  ],
  [
    'MBR-010',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'A wrong password is refused with 401 and sets no cookie.',
  ],
  ['MBR-011', 'docs/api/console-access.md#post-v1consolelogout', '`POST /v1/console/logout` ends the console session.'],
  [
    'MBR-012',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    '`GET /v1/console/session` shows who is signed in; without a session it answers 401 `console_login_required`.',
  ],
  ['MBR-013', 'docs/console-sign-in.md#rules-of-members-and-cookies', 'Passwords are stored as argon2id only.'],
  [
    'MBR-014',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'A change made with the console cookie needs the CSRF header; without it nothing changes.',
  ],
  [
    'MBR-015',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'Login takes 10 tries a minute per address and email; the next answers 429 `rate_limited`.',
  ],
  [
    'MBR-700',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'Others who know an email cannot lock its person out: tries are counted per address, and a browser that signed in before has its own count.',
  ],
  ['MBR-016', 'docs/console-sign-in.md#rules-of-members-and-cookies', 'The first owner is created at the first start.'],
  [
    'MBR-017',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'An unknown member answers 404 `member_not_found`.',
  ],
  [
    'MBR-018',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'An owner or admin in the console may change an MCP server that a live version uses, also while acting in test mode.',
  ],
  [
    'MBR-201',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'By https the console cookie carries the prefix `__Host-`, and one without it is not read.',
  ],
  [
    'MBR-202',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'Tries are counted per email, and per address only far above that: nobody is locked out by others behind one proxy.',
  ],
  [
    'MBR-203',
    'docs/console-sign-in.md#rules-of-members-and-cookies',
    'A GET that wakes a computer takes the CSRF token or a same-origin fetch of a console member: 403 `csrf_required`.',
  ],
  [
    'MBR-400',
    'docs/console-sign-in.md#your-account',
    'A member of any role sees how they sign in and changes their own name in the org.',
  ],
  [
    'MBR-401',
    'docs/console-sign-in.md#your-account',
    'A new password needs the old one, tried as slowly as the login, and logs every other browser out.',
  ],
  [
    'MBR-402',
    'docs/console-sign-in.md#your-account',
    'The browsers one is logged in with are listed with device, address and last use, and ended one by one or all but this.',
  ],
  [
    'MBR-403',
    'docs/console-sign-in.md#a-forgotten-password',
    'An owner or admin creates a link for a member, an owner for an owner; it works once, for a day, and ends every sign-in.',
  ],
  [
    'MBR-404',
    'docs/console-sign-in.md#a-forgotten-password',
    'An org creates no link for a login that opens another org too, and an earlier link stops working.',
  ],
  [
    'MBR-405',
    'docs/console-sign-in.md#a-forgotten-password',
    '`vestra admin member reset-password` creates a link for any login.',
  ],
  [
    'MBR-406',
    'docs/console-sign-in.md#roles',
    'Each route opens to exactly the roles that the table names, and the console session lists what its role may call.',
  ],
  [
    'MBR-410',
    'docs/identity-provider.md',
    'An owner sets the org’s identity provider for both modes; it is asked at once, and its secret is never shown.',
  ],
  [
    'MBR-411',
    'docs/identity-provider.md',
    "A person who signs in for the first time becomes a member with the role that the org's rule gives their claims.",
  ],
  [
    'MBR-412',
    'docs/identity-provider.md',
    'Only an email that the provider has verified, of a domain that the org lists, signs in.',
  ],
  [
    'MBR-413',
    'docs/identity-provider.md',
    'A provider opens its own org alone, and no member who has a password before they have linked it themselves.',
  ],
  [
    'MBR-414',
    'docs/identity-provider.md',
    'With `password_sign_in: false` a password opens no member who has linked the provider, but for owners.',
  ],
  [
    'MBR-415',
    'docs/identity-provider.md',
    'A session that a provider opened ends with the member and with the provider.',
  ],
  [
    'MBR-420',
    'docs/console-sign-in.md#passkeys',
    'A passkey is registered with the password and signs its person in, in every org that the password opens.',
  ],
  [
    'MBR-421',
    'docs/console-sign-in.md#passkeys',
    'A passkey answer for another challenge, origin or browser, sent twice, or with a count that did not increase, signs nobody in.',
  ],
  [
    'MBR-422',
    'docs/console-sign-in.md#passkeys',
    'Passkeys are listed, renamed and removed by their person alone, and a password reset takes them all away.',
  ],
  [
    'MBR-416',
    'docs/identity-provider.md',
    'A sign-in is good once, in the browser that began it, and with a token that is signed, current and meant for it.',
  ],
  [
    'MBR-430',
    'docs/identity-provider.md',
    'A link that did not come about leads back to the account of the person, who stays signed in; linking the same account again changes nothing.',
  ],
  [
    'MBR-610',
    'docs/console-sign-in.md#one-email-in-several-orgs',
    'An invitation can be accepted whatever another org has done with the email; a login opens only orgs that were joined with its own password.',
  ],
  [
    'MBR-611',
    'docs/console-sign-in.md#one-email-in-several-orgs',
    'A person who joins an org with the password of a login they have gets one login for both; earlier sessions and passkeys do not open the new org.',
  ],
  [
    'MBR-612',
    'docs/console-sign-in.md#one-email-in-several-orgs',
    'A sign-in costs the same, however many orgs have accepted invitations for the email.',
  ],
  [
    'MBR-613',
    'docs/console-sign-in.md#a-forgotten-password',
    'A reset link of the operator replaces every login of the email with one.',
  ],
  ['MBR-615', 'docs/console-sign-in.md#passkeys', 'A passkey that was used in a frame of another site is refused.'],
]);
