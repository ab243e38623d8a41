import type { Field as FieldRow } from 'virtual:contract/fields';
import { VestraError } from '@vestra/sdk/errors';
import { createContext, type FormEvent, type ReactNode, use, useId, useState } from 'react';
import { useRole } from '../data/api.ts';
import { useChange } from '../data/queries.ts';
import type { Fields, RouteAnswer, RowName } from '../data/rows.ts';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm.tsx';
import { Dialog } from './dialog.tsx';
import { Fault } from './fault.tsx';
import { formHelp } from './form-help.ts';
import { say } from './notices.tsx';
import { RequestMenu } from './request-menu.tsx';

type Values = Record<string, unknown>;

type FormState = {
  values: Values;
  set: (name: string, value: unknown) => void;
  faultOf: (name: string) => string | undefined;
  helpOf: (name: string) => FieldRow | undefined;
};

const FormContext = createContext<FormState | null>(null);

type HelpRows = typeof import('virtual:contract/fields')['default'];

/** Field descriptions of the contract, loaded with the first form. Forms also work without them. */
const helpRows = () =>
  (loadedHelp ??= import('virtual:contract/fields').then(
    (module) => module.default,
    () => ({}) as HelpRows,
  ));
let loadedHelp: Promise<HelpRows> | undefined;

type ChangeFormProps<Name extends RowName> = {
  row: Name;
  /** Fixed fields of the call, such as ids from the address. */
  fields?: Partial<Fields<Name>>;
  initial: Values;
  /** Maps the form values to the request. By default all non-empty values are sent. */
  send?: (values: Values) => Values;
  submit: string;
  /** `values` are the form values. */
  onDone: (answer: RouteAnswer<Name>, values: Values) => void;
  onCancel?: () => void;
  /** Asks for confirmation first, unless it returns null. */
  confirm?: (values: Values) => { title: string; loses: ReactNode; act: string } | null;
  touches?: readonly string[];
  children: ReactNode;
};

/** A form that makes one API call. Field help comes from the contract, and errors are shown at their fields. */
export function ChangeForm<Name extends RowName>(props: ChangeFormProps<Name>) {
  const {
    row,
    fields = {},
    initial,
    send = withoutEmpty,
    submit,
    onDone,
    onCancel,
    confirm,
    touches,
    children,
  } = props;
  const help = use(helpRows())[row];
  const { may } = useRole();
  const [values, setValues] = useState<Values>(initial);
  const [isAsked, setIsAsked] = useState(false);
  const change = useChange(row, { ...(touches && { touches }), onDone: (answer) => onDone(answer, values) });
  const asked = () => ({ ...fields, ...send(values) }) as Fields<Name>;
  const faults = faultsOf(change.error);
  const isShownAtField =
    faults.size > 0 && [...faults.keys()].every((name) => (name.split('.')[0] as string) in values);

  const state: FormState = {
    values,
    set: (name, value) => setValues((before) => ({ ...before, [name]: value })),
    faultOf: (name) => faults.get(name) ?? [...faults].find(([param]) => param.startsWith(`${name}.`))?.[1],
    helpOf: (name) => fieldAt(help?.fields, name),
  };
  const lost = confirm?.(values) ?? null;
  const run = (event: FormEvent) => {
    event.preventDefault();
    if (lost) setIsAsked(true);
    else if (!change.isRunning) change.run(asked());
  };
  return (
    <FormContext value={state}>
      <form className="flex flex-col gap-4" noValidate onSubmit={run}>
        {children}
        {change.error && <Fault className={isShownAtField ? 'text-sm' : ''} error={change.error} />}
        <div className="flex items-center justify-end gap-2">
          <span className="mr-auto">
            <RequestMenu label="Copy this change as an API request" request={change.requestOf(asked())} />
          </span>
          {onCancel && <Button onClick={onCancel}>Cancel</Button>}
          <Button disabled={!may(row)} isBusy={change.isRunning} look="primary" type="submit">
            {submit}
          </Button>
        </div>
      </form>
      {lost && (
        <ConfirmDialog
          {...lost}
          error={null}
          isOpen={isAsked}
          isRunning={false}
          onClose={() => setIsAsked(false)}
          request={change.requestOf(asked())}
          run={() => {
            setIsAsked(false);
            change.run(asked());
          }}
        />
      )}
    </FormContext>
  );
}

type FormDialogProps<Name extends RowName> = Omit<ChangeFormProps<Name>, 'onCancel' | 'onDone'> & {
  title: string;
  description?: ReactNode;
  width?: 'narrow' | 'wide';
  onClose: () => void;
  /** Shown after the change. */
  notice?: string;
  /** Runs after the change instead of `onClose`. */
  onDone?: ChangeFormProps<Name>['onDone'];
};

/** A form in a dialog. It is rendered only while it is open. */
export function FormDialog<Name extends RowName>(props: FormDialogProps<Name>) {
  const { title, description, width = 'narrow', onClose, notice, onDone, ...form } = props;
  return (
    <Dialog description={description} isOpen onClose={onClose} title={title} width={width}>
      <ChangeForm
        {...(form as unknown as Omit<ChangeFormProps<Name>, 'onCancel' | 'onDone'>)}
        onCancel={onClose}
        onDone={(answer, values) => {
          if (notice !== undefined) say(notice);
          if (onDone) onDone(answer, values);
          else onClose();
        }}
      />
    </Dialog>
  );
}

const fieldAt = (fields: Readonly<Record<string, FieldRow>> | undefined, name: string): FieldRow | undefined => {
  const [first = '', ...rest] = name.split('.');
  const field = fields?.[first];
  return rest.length === 0 ? field : fieldAt(field?.fields, rest.join('.'));
};

const withoutEmpty = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '' && value !== undefined));

/** The first error of each field. */
function faultsOf(error: Error | null): Map<string, string> {
  if (!(error instanceof VestraError)) return new Map();
  const listed =
    error.errors.length > 0 ? error.errors : error.param ? [{ param: error.param, message: error.message }] : [];
  return new Map([...listed].reverse().map(({ param, message }) => [param, message]));
}

export function useForm(): FormState {
  const form = use(FormContext);
  if (!form) throw new Error('A field was rendered outside a form.');
  return form;
}

/** The error of a field, or its help. */
export function Help({ fault, help }: { fault?: string | undefined; help: ReactNode }) {
  const shown = fault ?? help;
  return typeof shown === 'string' ? <HelpText>{shown}</HelpText> : shown;
}

/** Descriptions of the contract mark code with backticks. */
const HelpText = ({ children }: { children: string }) =>
  children.split('`').map((piece, at) =>
    at % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a sentence keep their order.
      <code className="rounded-sm bg-muted px-1 font-mono text-[0.92em]" key={at}>
        {piece}
      </code>
    ) : (
      piece
    ),
  );

const describedBy = (row: FieldRow | undefined) => row?.description && formHelp(row.description);

type FieldProps = { name: string; label: string; hint?: ReactNode };

/** Label, help and error of a control, linked by ids. */
export function FieldFrame({
  name,
  label,
  hint,
  children,
}: FieldProps & { children: (ids: { id: string; 'aria-describedby': string; 'aria-invalid': boolean }) => ReactNode }) {
  const { faultOf, helpOf } = useForm();
  const id = useId();
  const fault = faultOf(name);
  const help = hint ?? describedBy(helpOf(name));
  return (
    <div>
      <label className="mb-1 block font-medium text-sm" htmlFor={id}>
        {label}
      </label>
      {children({ id, 'aria-describedby': `${id}-help`, 'aria-invalid': fault !== undefined })}
      <p className={`mt-1 text-sm ${fault ? 'text-danger' : 'text-quiet'}`} id={`${id}-help`}>
        <Help fault={fault} help={help} />
      </p>
    </div>
  );
}

type TextFieldProps = FieldProps & {
  type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'datetime-local';
  placeholder?: string;
  autoComplete?: string;
  isMono?: boolean;
  list?: readonly string[];
};

export function TextField({ name, label, hint, type = 'text', isMono, list, ...rest }: TextFieldProps) {
  const { values, set, helpOf } = useForm();
  const { maxLength } = helpOf(name) ?? {};
  return (
    <FieldFrame hint={hint} label={label} name={name}>
      {(ids) => (
        <>
          <input
            {...ids}
            {...rest}
            className={`control ${isMono ? 'font-mono' : ''}`}
            list={list && `${ids.id}-list`}
            maxLength={maxLength}
            onChange={(event) => set(name, type === 'number' ? numberOf(event.target.value) : event.target.value)}
            type={type}
            value={String(values[name] ?? '')}
          />
          {list && (
            <datalist id={`${ids.id}-list`}>
              {list.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          )}
        </>
      )}
    </FieldFrame>
  );
}

/** Invalid numbers are sent unchanged, so that the server reports the error. */
const numberOf = (text: string) => (text.trim() === '' ? '' : Number.isNaN(Number(text)) ? text : Number(text));

export function AreaField({
  name,
  label,
  hint,
  rows = 4,
  isMono,
  placeholder,
}: FieldProps & { rows?: number; isMono?: boolean; placeholder?: string }) {
  const { values, set } = useForm();
  return (
    <FieldFrame hint={hint} label={label} name={name}>
      {(ids) => (
        <textarea
          {...ids}
          className={`control h-auto min-h-16 py-1.5 leading-5 ${isMono ? 'font-mono text-sm' : ''}`}
          onChange={(event) => set(name, event.target.value)}
          placeholder={placeholder}
          rows={rows}
          value={String(values[name] ?? '')}
        />
      )}
    </FieldFrame>
  );
}

export function SelectField({
  name,
  label,
  hint,
  options,
}: FieldProps & { options: readonly (readonly [value: string, label: string])[] }) {
  const { values, set } = useForm();
  return (
    <FieldFrame hint={hint} label={label} name={name}>
      {(ids) => (
        <select
          {...ids}
          className="control pr-8"
          onChange={(event) => set(name, event.target.value)}
          value={String(values[name] ?? '')}
        >
          {options.map(([value, shown]) => (
            <option key={value} value={value}>
              {shown}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}

export function CheckField({ name, label, hint }: FieldProps) {
  const { values, set, faultOf, helpOf } = useForm();
  const id = useId();
  return (
    <div className="flex gap-2">
      <input
        aria-describedby={`${id}-help`}
        checked={values[name] === true}
        className="mt-1 size-4 shrink-0 accent-accent"
        id={id}
        onChange={(event) => set(name, event.target.checked)}
        type="checkbox"
      />
      <div>
        <label className="font-medium text-sm" htmlFor={id}>
          {label}
        </label>
        <p className={`text-sm ${faultOf(name) ? 'text-danger' : 'text-quiet'}`} id={`${id}-help`}>
          <Help fault={faultOf(name)} help={hint ?? describedBy(helpOf(name))} />
        </p>
      </div>
    </div>
  );
}

/** A group of checkboxes. */
export function ChoicesField({
  name,
  label,
  hint,
  options,
}: FieldProps & { options: readonly (readonly [value: string, label: string, hint?: string])[] }) {
  const { values, set, faultOf, helpOf } = useForm();
  const chosen = (values[name] as readonly string[] | undefined) ?? [];
  const fault = faultOf(name);
  return (
    <fieldset>
      <legend className="mb-1 font-medium text-sm">{label}</legend>
      <div className="flex flex-col gap-1.5">
        {options.map(([value, shown, about]) => (
          <label className="flex gap-2" key={value}>
            <input
              checked={chosen.includes(value)}
              className="mt-0.5 size-4 shrink-0 accent-accent"
              onChange={(event) =>
                set(name, event.target.checked ? [...chosen, value] : chosen.filter((each) => each !== value))
              }
              type="checkbox"
            />
            <span>
              {shown}
              {about && <span className="block text-quiet text-sm">{about}</span>}
            </span>
          </label>
        ))}
      </div>
      <p className={`mt-1 text-sm ${fault ? 'text-danger' : 'text-quiet'}`}>
        <Help fault={fault} help={hint ?? helpOf(name)?.description} />
      </p>
    </fieldset>
  );
}
