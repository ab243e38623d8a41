import type { ComponentProps, ReactNode } from 'react';
import { useRole } from '../data/api.ts';
import type { Fields, RowName } from '../data/rows.ts';
import { Button } from './button.tsx';
import { ConfirmChange } from './confirm.tsx';
import { useDialogInAddress } from './dialog-in-address.ts';
import { Icon } from './icons.tsx';
import { Page } from './page.tsx';
import { useGo } from './page-link.tsx';

type ResourcePageProps<Name extends RowName> = Omit<ComponentProps<typeof Page>, 'above'> & {
  /** The list that this page belongs to. Deleting the resource leads back to it. */
  above: { to: string; title: string };
  edit?: {
    row: RowName;
    /** Defaults to `Edit`. */
    label?: string;
    isOff?: boolean;
    /** The search parameter that opens the form. Defaults to `edit`. */
    param?: string;
    form: (close: () => void) => ReactNode;
  };
  remove?: {
    row: Name;
    fields: Fields<Name>;
    /** Such as `notebook`: it names the button, the question and the notice. */
    noun: string;
    loses: ReactNode;
    typed?: string;
    isOff?: boolean;
    /** Filters of the list that the page leads back to. */
    search?: Record<string, string>;
  };
};

/** The page of one resource: its actions, the form that edits it, and deletion after a confirmation. */
export function ResourcePage<Name extends RowName>(props: ResourcePageProps<Name>) {
  const { actions, edit, remove, children, ...page } = props;
  const { may } = useRole();
  const go = useGo();
  const editing = useDialogInAddress(edit?.param ?? 'edit');
  const deleting = useDialogInAddress('delete');
  const buttons = (
    <>
      {actions}
      {edit && (
        <Button disabled={!may(edit.row) || edit.isOff} onClick={() => editing.open()}>
          {edit.label ?? 'Edit'}
        </Button>
      )}
      {remove && (
        <Button
          aria-label={`Delete this ${remove.noun}`}
          disabled={!may(remove.row) || remove.isOff}
          look="danger-quiet"
          onClick={() => deleting.open()}
          shape="icon"
        >
          <Icon name="trash" />
        </Button>
      )}
    </>
  );
  return (
    <Page {...page} actions={buttons}>
      {children}
      {editing.value !== null && edit?.form(editing.close)}
      {remove && deleting.value !== null && (
        <ConfirmChange
          act={`Delete ${remove.noun}`}
          fields={remove.fields}
          loses={remove.loses}
          notice={`${remove.noun[0]?.toUpperCase()}${remove.noun.slice(1)} deleted`}
          onClose={deleting.close}
          onDone={() => go(page.above.to, remove.search)}
          row={remove.row}
          title={`Delete this ${remove.noun}?`}
          typed={remove.typed}
        />
      )}
    </Page>
  );
}
