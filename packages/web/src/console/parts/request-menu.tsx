import type { Request } from '../data/rows.ts';
import { asCurl, asSdk } from '../data/snippets.ts';
import { Button } from './button.tsx';
import { copyText } from './copy.tsx';
import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';

/** The call behind what is on show, or behind a change, to be made elsewhere. */
export function RequestMenu({ request, label = 'Copy the call behind this' }: { request: Request; label?: string }) {
  return (
    <Menu
      items={[
        { label: 'Copy as curl', icon: 'code', run: () => void copyText(asCurl(request), 'Copied as curl') },
        {
          label: 'Copy as TypeScript SDK',
          icon: 'code',
          run: () => void copyText(asSdk(request), 'Copied as SDK call'),
        },
      ]}
    >
      <Button aria-label={label} look="quiet" shape="icon" title={label}>
        <Icon name="code" />
      </Button>
    </Menu>
  );
}
