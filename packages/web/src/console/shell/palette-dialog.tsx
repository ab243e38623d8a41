import * as Radix from '@radix-ui/react-dialog';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { useEffect, useState } from 'react';
import { useAccess } from '../access/session.ts';
import { useOrgAndMode, useRole } from '../data/api.ts';
import { useList } from '../data/queries.ts';
import { pages } from '../pages.ts';
import { useFocusBack } from '../parts/dialog.tsx';
import { Icon, type IconName } from '../parts/icons.tsx';
import { useGo } from '../parts/page-link.tsx';
import { pageOfId } from './page-of-id.ts';
import { applyScheme } from './scheme.ts';

type Offer = {
  label: string;
  icon: IconName;
  run: () => void;
  note?: string;
  /** The id of a result that the server found, by words that the label may not contain. */
  found?: string;
};

/** Results of each kind. The lists have the rest. */
const mostFound = 5;

/** The command palette: pages, deployments, actions, and users, conversations and tasks by their words. */
export default function PaletteDialog({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const focus = useFocusBack();
  const go = useGo();
  const navigate = useNavigate();
  const { may } = useRole();
  const { org, mode } = useOrgAndMode();
  const { session } = useAccess();
  const open = pages.filter(({ needs }) => needs === null || may(needs));
  const has = (path: string) => open.some((page) => page.path === path);
  const deployments = useList('deployments.list', {}, { enabled: has('/deployments/$deployment') });
  const q = useSettled(typed.trim());
  const isSearched = (path: string) => ({ limit: mostFound, enabled: q.length > 1 && has(path) });
  const users = useList('users.list', { q }, isSearched('/users/$user'));
  const conversations = useList('conversations.list', { q }, isSearched('/conversations/$conversation'));
  const tasks = useList('tasks.list', { q }, isSearched('/tasks/$task'));

  const named = pageOfId(typed.trim());
  const then = (run: () => void) => () => {
    onClose();
    run();
  };
  const groups: [string, Offer[]][] = [
    [
      'Go to',
      named && has(named.page)
        ? [{ label: typed.trim(), icon: 'arrow', run: () => go(named.to), note: named.what }]
        : [],
    ],
    [
      'Pages',
      open
        .filter(({ nav }) => nav)
        .map(({ title, path, nav }) => ({ label: title, icon: nav?.icon ?? 'arrow', run: () => go(path) })),
    ],
    [
      'Deployments',
      deployments.rows.map(({ id, name, slug }) => ({
        label: name,
        icon: 'deployment',
        note: slug,
        run: () => go(`/deployments/${id}`),
      })),
    ],
    [
      'Users',
      users.rows.slice(0, mostFound).map(({ id, name, email }) => ({
        label: name ?? email ?? id,
        icon: 'user',
        note: name === null ? id : (email ?? id),
        run: () => go(`/users/${encodeURIComponent(id)}`),
        found: id,
      })),
    ],
    [
      'Conversations',
      conversations.rows.slice(0, mostFound).map(({ id, preview, user_id }) => ({
        label: preview ?? id,
        icon: 'conversation',
        note: user_id ?? id,
        run: () => go(`/conversations/${id}`),
        found: id,
      })),
    ],
    [
      'Tasks',
      tasks.rows.slice(0, mostFound).map(({ id, title, status }) => ({
        label: title,
        icon: 'task',
        note: status,
        run: () => go(`/tasks/${id}`),
        found: id,
      })),
    ],
    [
      'Actions',
      [
        ...open.flatMap(({ path, actions = [] }) =>
          actions
            .filter(({ needs }) => may(needs))
            .map(({ label, search }): Offer => ({ label, icon: 'plus', run: () => go(path, search) })),
        ),
        {
          label: mode === 'test' ? 'Switch to live mode' : 'Switch to test mode',
          icon: 'updown',
          run: () => void navigate({ to: `/${org}/${mode === 'test' ? 'live' : 'test'}` as never }),
        },
        { label: 'Light appearance', icon: 'sun', run: () => applyScheme('light') },
        { label: 'Dark appearance', icon: 'moon', run: () => applyScheme('dark') },
      ],
    ],
    [
      'Orgs',
      (session?.orgs ?? [])
        .filter(({ id }) => id !== org)
        .map(({ id, name }) => ({
          label: `Switch to ${name}`,
          icon: 'members',
          note: id,
          run: () => void navigate({ to: `/${id}/${mode}` as never }),
        })),
    ],
  ];

  return (
    <Radix.Root onOpenChange={(isOpen) => !isOpen && onClose()} open>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[oklch(0.15_0.02_262/0.45)]" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={focus.giveBack}
          onOpenAutoFocus={focus.remember}
          className="fixed inset-x-3 top-[10dvh] z-50 mx-auto max-w-xl animate-appear overflow-hidden rounded-lg bg-raised shadow-pop"
        >
          <Radix.Title className="sr-only">Search or jump to</Radix.Title>
          <Command filter={hasWords} label="Search or jump to" loop>
            <div className="flex items-center gap-2 border-b px-3">
              <Icon className="size-4 text-quiet" name="search" />
              <Command.Input
                className="h-11 grow bg-transparent text-lg outline-none"
                onValueChange={setTyped}
                placeholder="Search pages, users, conversations and tasks"
                value={typed}
              />
            </div>
            <Command.List className="max-h-[min(26rem,60dvh)] overflow-y-auto p-1.5">
              <Command.Empty className="px-2 py-6 text-center text-quiet">
                No results. You can also paste a whole id.
              </Command.Empty>
              {groups.map(([heading, offers]) =>
                offers.length === 0 ? null : (
                  <Command.Group
                    className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-quiet [&_[cmdk-group-heading]]:text-xs"
                    heading={heading}
                    key={heading}
                  >
                    {offers.map(({ label, icon, run, note, found }) => (
                      <Command.Item
                        className="flex h-9 items-center gap-2.5 rounded-md px-2 data-[selected=true]:bg-muted"
                        key={found ?? `${label} ${note}`}
                        onSelect={then(run)}
                        value={`${heading} ${label} ${note ?? ''}${found ? ` ${found} ${typed}` : ''}`}
                      >
                        <Icon className="size-4 text-quiet" name={icon} />
                        <span className="min-w-0 grow truncate">{label}</span>
                        {note && <span className="max-w-[40%] truncate text-quiet text-xs">{note}</span>}
                      </Command.Item>
                    ))}
                  </Command.Group>
                ),
              )}
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** The text after a pause in typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Each word is in the entry. A looser match would put unrelated actions above the user that was looked for. */
function hasWords(value: string, search: string): number {
  const text = value.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
    ? 1
    : 0;
}
