import { useNavigate } from '@tanstack/react-router';
import { Mark } from '../../identity/drawn-mark.tsx';
import { useAccess } from '../access/session.ts';
import { useOrgAndMode } from '../data/api.ts';
import { Icon } from '../parts/icons.tsx';
import { Menu } from '../parts/menu.tsx';

export function OrgSwitch() {
  const { org, mode } = useOrgAndMode();
  const { session } = useAccess();
  const navigate = useNavigate();
  const orgs = session?.orgs ?? [];
  const name = orgs.find(({ id }) => id === org)?.name ?? 'Choose an org';
  return (
    <Menu
      align="start"
      items={orgs.map((each) => ({
        label: each.name,
        note: each.role,
        isChosen: each.id === org,
        run: () => void navigate({ to: `/${each.id}/${mode}` as never }),
      }))}
    >
      <button
        className="flex h-9 w-full min-w-0 items-center gap-2 rounded-md px-2 text-left hover:bg-muted"
        type="button"
      >
        <span className="grid size-6 shrink-0 place-items-center rounded-md bg-brand text-on-brand">
          <Mark className="size-4" />
        </span>
        <span className="min-w-0 grow truncate font-semibold">{name}</span>
        <span className="sr-only">: switch org</span>
        <Icon className="size-3.5 text-quiet" name="updown" />
      </button>
    </Menu>
  );
}
