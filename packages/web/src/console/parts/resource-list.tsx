import type { ReactNode } from 'react';
import { useRole } from '../data/api.ts';
import type { Request, RowName } from '../data/rows.ts';
import { Button } from './button.tsx';
import { type Column, DataTable, type TableRows } from './data-table.tsx';
import { useDialogInAddress } from './dialog-in-address.ts';
import { EmptyState, type EmptyStateProps } from './empty-state.tsx';
import { Icon } from './icons.tsx';
import { Page } from './page.tsx';

type ResourceListProps<Row> = {
  title: string;
  lead: ReactNode;
  /** Names the table for screen readers. Defaults to the title. */
  label?: string;
  list: TableRows<Row> & { request: Request };
  columns: readonly Column<Row>[];
  linkOf?: (row: Row) => string;
  /** The create button is shown if the role may call `row`. The address opens its dialog. */
  create?: {
    label: string;
    row: RowName;
    /** The search parameter that opens the dialog. Defaults to `new`. */
    param?: string;
    /** `value` is the search parameter: `1`, or the name of the row to change. */
    dialog: (close: () => void, value: string) => ReactNode;
  };
  /** Buttons to the left of the create button. */
  actions?: ReactNode;
  empty: Omit<EmptyStateProps, 'children'> & { text: ReactNode };
  /** Tabs and filters above the table. */
  above?: ReactNode;
  /** Replaces the table, such as with a calendar. */
  instead?: ReactNode;
  /** Dialogs and sections below the table. */
  children?: ReactNode;
};

/** The page of a list: create button, table, empty state with the same button, and the dialog that creates a row. */
export function ResourceList<Row>(props: ResourceListProps<Row>) {
  const { title, lead, label = title, list, columns, linkOf, create, actions, empty, above, instead, children } = props;
  const { may } = useRole();
  const creating = useDialogInAddress(create?.param ?? 'new');
  const { text, ...emptyState } = empty;
  const button = create && may(create.row) && (
    <Button look="primary" onClick={() => creating.open()}>
      <Icon name="plus" /> {create.label}
    </Button>
  );
  const buttons = actions ? (
    <>
      {actions}
      {button}
    </>
  ) : (
    button
  );
  return (
    <Page actions={buttons} lead={lead} request={list.request} title={title}>
      {above}
      {instead ?? (
        <DataTable
          columns={columns}
          empty={
            <EmptyState action={button} {...emptyState}>
              {text}
            </EmptyState>
          }
          label={label}
          list={list}
          {...(linkOf && { linkOf })}
        />
      )}
      {creating.value !== null && create?.dialog(creating.close, creating.value)}
      {children}
    </Page>
  );
}
