import * as Radix from '@radix-ui/react-dropdown-menu';
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';

export type MenuItem =
  | {
      label: string;
      icon?: IconName;
      run: () => void;
      isDanger?: boolean;
      isChosen?: boolean;
      note?: string;
      isOff?: boolean;
    }
  | 'line';

/** A dropdown menu. `children` is its trigger button. */
export function Menu({
  items,
  children,
  align = 'end',
}: {
  items: readonly MenuItem[];
  children: ReactNode;
  align?: 'start' | 'end';
}) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 max-w-80 animate-appear overflow-y-auto rounded-md bg-raised p-1 shadow-pop"
          collisionPadding={8}
          sideOffset={4}
        >
          {items.map((item, index) =>
            item === 'line' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines are alike, and the items of a menu keep their order.
              <Radix.Separator className="my-1 border-t" key={index} />
            ) : (
              <Radix.Item
                className={`flex min-h-8 items-center gap-2 rounded-sm px-2 py-1 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-muted pointer-coarse:min-h-10 ${item.isDanger ? 'text-danger' : ''}`}
                disabled={item.isOff ?? false}
                key={item.label}
                onSelect={item.run}
              >
                {item.icon && <Icon className="size-4 opacity-70" name={item.icon} />}
                <span className="min-w-0 grow truncate">{item.label}</span>
                {item.note && <span className="text-quiet text-xs">{item.note}</span>}
                {item.isChosen && <Icon className="size-4" name="check" />}
              </Radix.Item>
            ),
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
