import { useOrgAndMode } from '../data/api.ts';
import { useLastChange } from '../data/last-change.ts';
import type { Request } from '../data/rows.ts';
import { asCurl, asSdk } from '../data/snippets.ts';
import { Button } from './button.tsx';
import { copyText } from './copy.tsx';
import { Icon } from './icons.tsx';
import { Menu, type MenuItem } from './menu.tsx';

type RequestMenuProps = {
  request: Request;
  label?: string;
  /** Adds the last change, for buttons that act immediately. */
  withLastChange?: boolean;
};

/** Copies an API call as curl or SDK code. */
export function RequestMenu({ request, label = 'Copy as API request', withLastChange = false }: RequestMenuProps) {
  const last = useLastChange(useOrgAndMode());
  return (
    <Menu
      items={[
        ...itemsOf(request),
        ...(withLastChange && last ? ['line' as const, ...itemsOf(last, 'the last change')] : []),
      ]}
    >
      <Button aria-label={label} look="quiet" shape="icon" title={label}>
        <Icon name="code" />
      </Button>
    </Menu>
  );
}

const itemsOf = (request: Request, what?: string): MenuItem[] => [
  {
    label: what ? `Copy ${what} as curl` : 'Copy as curl',
    icon: 'code',
    run: () => void copyText(asCurl(request), 'Copied as curl'),
  },
  {
    label: what ? `Copy ${what} as TypeScript SDK` : 'Copy as TypeScript SDK',
    icon: 'code',
    run: () => void copyText(asSdk(request), 'Copied as SDK call'),
  },
];
