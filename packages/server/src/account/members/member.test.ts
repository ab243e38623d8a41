import { describe, expect, it } from 'vitest';
import { leavesNoOwner, type Manager, managerOf, normaliseEmail, type RoleChange, refusalOf } from './member.ts';

const operator: Manager = { kind: 'operator' };
const owner: Manager = { kind: 'member', role: 'owner' };
const admin: Manager = { kind: 'member', role: 'admin' };
const developer: Manager = { kind: 'member', role: 'developer' };
const allKey: Manager = { kind: 'key', mode: 'live', scopes: ['all'] };
const adminKey: Manager = { kind: 'key', mode: 'live', scopes: ['runtime', 'admin'] };
const runtimeKey: Manager = { kind: 'key', mode: 'live', scopes: ['runtime', 'setup'] };
const testAllKey: Manager = { kind: 'key', mode: 'test', scopes: ['all'] };
const testAdminKey: Manager = { kind: 'key', mode: 'test', scopes: ['admin'] };

const makesDeveloper: RoleChange = { from: null, to: 'developer' };
const makesAdmin: RoleChange = { from: 'developer', to: 'admin' };
const removesAdmin: RoleChange = { from: 'admin', to: null };
const makesOwner: RoleChange = { from: 'admin', to: 'owner' };
const invitesOwner: RoleChange = { from: null, to: 'owner' };
const renamesOwner: RoleChange = { from: 'owner', to: 'owner' };
const demotesOwner: RoleChange = { from: 'owner', to: 'admin' };
const removesOwner: RoleChange = { from: 'owner', to: null };

const harmless = [makesDeveloper, makesAdmin, removesAdmin];
const ofOwners = [makesOwner, invitesOwner, renamesOwner, demotesOwner, removesOwner];

describe('permission to change members', () => {
  it.each([
    ['the operator', operator, null, null],
    ['an owner', owner, null, null],
    ['an admin', admin, null, 'role_missing'],
    ['a developer', developer, 'role_missing', 'role_missing'],
    ['a live key with scope all', allKey, null, null],
    ['a live key with scope admin', adminKey, null, 'scope_missing'],
    ['a live key without scope admin', runtimeKey, 'scope_missing', 'scope_missing'],
    ['a test key with scope all', testAllKey, 'live_key_required', 'live_key_required'],
    ['a test key with scope admin', testAdminKey, 'live_key_required', 'scope_missing'],
  ])('%s', (_who, manager, others, owners) => {
    for (const change of harmless)
      expect(refusalOf(manager, change)?.code ?? null, JSON.stringify(change)).toBe(others);
    for (const change of ofOwners)
      expect(refusalOf(manager, change)?.code ?? null, JSON.stringify(change)).toBe(owners);
  });

  it('depends on the role of a member and on the scopes of a key', () => {
    expect(managerOf({ member: { id: 'mbr_1', role: 'admin' }, mode: 'test', scopes: ['all'] })).toEqual(admin);
    expect(managerOf({ member: null, mode: 'live', scopes: ['all'] })).toEqual(allKey);
  });
});

describe('the last owner', () => {
  it.each([
    ['is not demoted', 'a', 'admin', ['a'], true],
    ['is not removed', 'a', null, ['a'], true],
    ['may stay one', 'a', 'owner', ['a'], false],
    ['is not the one of two', 'a', null, ['a', 'b'], false],
    ['is not touched by a change of somebody else', 'b', null, ['a'], false],
    ['is not missed where there never was one', 'b', null, [], false],
  ] as const)('%s', (_what, memberId, to, activeOwnerIds, expected) => {
    expect(leavesNoOwner(memberId, to, activeOwnerIds)).toBe(expected);
  });
});

describe('normaliseEmail', () => {
  it.each([
    ['  Ada@Example.COM\n', 'ada@example.com'],
    ['jose\u0301@example.com', 'josé@example.com'],
    ['JOSE\u0301@example.com', 'josé@example.com'],
  ])('compares %j as %j', (given, expected) => {
    expect(normaliseEmail(given)).toBe(expected);
  });
});
