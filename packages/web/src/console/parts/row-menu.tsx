import { Button } from './button.tsx';
import { Icon } from './icons.tsx';
import { Menu, type MenuItem } from './menu.tsx';

/** The actions menu of a row, above the link of the row. */
export function RowMenu({ of, items }: { of: string; items: readonly MenuItem[] }) {
  return (
    <span className="relative z-10">
      <Menu items={items}>
        <Button aria-label={`Actions for ${of}`} look="quiet" shape="small">
          <Icon name="more" />
        </Button>
      </Menu>
    </span>
  );
}
