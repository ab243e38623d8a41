import { describe, expect, it } from 'vitest';
import type { MemberRow } from '../../tables.ts';
import { opensByPassword } from '../member.ts';
import { arrivalOf, emailOf, roleOf } from './sign-in.ts';

const google = { issuer: 'https://accounts.google.com', allowed_domains: ['example.com', 'example.org'] };
const microsoft = { ...google, issuer: 'https://login.microsoftonline.com/8d1c/v2.0' };

describe('the verified email of an identity provider [MBR-412]', () => {
  it.each([
    [{ email: ' Ada@Example.com', email_verified: true }, google, 'ada@example.com'],
    [{ email: 'ada@example.org', email_verified: 'true' }, google, 'ada@example.org'],
    [{ email: 'ada@example.com' }, google, 'email_unverified'],
    [{ email: 'ada@example.com', email_verified: 'yes' }, google, 'email_unverified'],
    [{ email: 'ada@example.com', xms_edov: true }, google, 'email_unverified'],
    [{ email_verified: true }, google, 'email_unverified'],
    [{ email: ['ada@example.com'], email_verified: true }, google, 'email_unverified'],
    [{ email: 'ada@mail.example.com', email_verified: true }, google, 'email_not_allowed'],
    [{ email: 'ada@evil.com@example.com', email_verified: true }, google, 'email_not_allowed'],
    [{ email: '<ada@example.com', email_verified: true }, google, 'email_not_allowed'],
    [{ email: '@example.com', email_verified: true }, google, 'email_not_allowed'],
    [{ email: 'ada@example.com', xms_edov: '1' }, microsoft, 'ada@example.com'],
    [{ email: 'ada@example.com' }, microsoft, 'email_unverified'],
    [{ email: 'ada@example.com', email_verified: true, xms_edov: false }, microsoft, 'email_unverified'],
  ])('%j at %j is %s', (claims, provider, expected) => {
    const vouched = emailOf(claims, provider);
    expect('email' in vouched ? vouched.email : vouched.refused).toBe(expected);
  });
});

describe('the role of a new member [MBR-411]', () => {
  const rule = {
    default_role: null,
    role_claim: 'groups',
    roles_by_claim: { bosses: 'admin', all: 'developer' },
  } as const;
  it.each([
    [{ groups: ['all', 'bosses'] }, 'admin'],
    [{ groups: 'all' }, 'developer'],
    [{ groups: ['others', 7, null] }, null],
    [{ groups: ['constructor', '__proto__'] }, null],
    [{}, null],
  ])('with %j is %j', (claims, expected) => expect(roleOf(claims, rule)).toBe(expected));

  it('is the default role of the org if no claim maps to a role', () => {
    expect(roleOf({ groups: 'others' }, { ...rule, default_role: 'developer' })).toBe('developer');
    expect(roleOf({ groups: 'all' }, { ...rule, default_role: 'owner' })).toBe('developer');
  });
});

describe('the first sign-in of a person [MBR-413]', () => {
  const member = (status: MemberRow['status'], opened_by: MemberRow['opened_by'], login: string | null = null) => ({
    status,
    opened_by,
    login,
    email: 'ada@example.com',
  });
  it.each([
    [undefined, false, 'admin', 'make'],
    [undefined, false, null, 'not_a_member'],
    [member('invited', 'password'), false, null, 'accept'],
    [member('active', 'password'), false, 'admin', 'link_required'],
    [member('active', 'identity'), false, null, 'link'],
    [member('active', 'identity'), true, 'admin', 'another_identity'],
    [member('active', 'identity', 'mbr_1'), false, 'admin', 'link_required'],
    [member('active', 'both'), true, 'admin', 'another_identity'],
  ] as const)('%j with an identity %j and role %j: %s', (who, hasIdentity, role, expected) => {
    expect(arrivalOf(who, { hasIdentity, role })).toBe(expected);
  });
});

describe('memberships that a password opens [MBR-414]', () => {
  it.each([
    ['password', 'developer', true, true],
    ['both', 'developer', true, true],
    ['identity', 'owner', true, false],
    ['password', 'developer', false, true],
    ['both', 'developer', false, false],
    ['both', 'owner', false, true],
    ['identity', 'owner', false, false],
  ] as const)('%s, %s, in an org that takes passwords %j: %j', (opened_by, role, takesPasswords, expected) => {
    const isLinked = opened_by !== 'password';
    const opens = (member: Partial<MemberRow>) =>
      opensByPassword({ member: { email: 'ada@example.com', role, ...member } as MemberRow, takesPasswords, isLinked });
    expect(opens({ opened_by, login: null })).toBe(expected);
    // The same rule applies to a membership with a separate login.
    if (opened_by !== 'identity') expect(opens({ opened_by: 'identity', login: 'mbr_1' })).toBe(expected);
  });
});
