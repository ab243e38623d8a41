import { type ComponentProps, useState } from 'react';
import { useRole } from '../data/api.ts';
import type { RowName } from '../data/rows.ts';
import { Button } from './button.tsx';
import { ConfirmChange } from './confirm.tsx';
import { Icon } from './icons.tsx';
import { useGo } from './page-link.tsx';

type DeleteButtonProps<Name extends RowName> = Pick<
  ComponentProps<typeof ConfirmChange<Name>>,
  'row' | 'fields' | 'loses' | 'touches'
> & {
  /** The kind of the object, such as `task`. */
  noun: string;
  /** The page to open afterwards. */
  back: string;
};

/** Deletes the object of a page after a confirmation. Absent for a role that may not. */
export function DeleteButton<Name extends RowName>({ noun, back, row, ...change }: DeleteButtonProps<Name>) {
  const { may } = useRole();
  const go = useGo();
  const [isAsked, setIsAsked] = useState(false);
  if (!may(row)) return null;
  return (
    <>
      <Button look="danger-quiet" onClick={() => setIsAsked(true)}>
        <Icon name="trash" /> Delete
      </Button>
      {isAsked && (
        <ConfirmChange
          {...change}
          act={`Delete ${noun}`}
          onClose={() => setIsAsked(false)}
          onDone={() => go(back)}
          row={row}
          title={`Delete this ${noun}?`}
        />
      )}
    </>
  );
}
