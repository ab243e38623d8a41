import type { RouteAnswer } from '../../data/rows.ts';
import { AreaField, FormDialog, SelectField, TextField, useForm } from '../../parts/form.tsx';
import { ownTimeZone } from './next-times.ts';

type Routine = RouteAnswer<'routines.get'>;

/** Creates or edits a routine. */
export function RoutineForm(props: {
  routine?: Routine;
  userId?: string | undefined;
  onClose: () => void;
  onDone: (routine: Routine) => void;
}) {
  const { routine, userId, onClose, onDone } = props;
  const schedule = routine?.schedule;
  const initial = {
    name: routine?.name ?? '',
    ask: routine?.ask ?? '',
    kind: routine && !schedule ? 'call' : schedule && schedule.every === null ? 'cron' : 'every',
    every: schedule?.every ?? '',
    schedule: schedule?.cron ?? '',
    timezone: schedule?.timezone ?? ownTimeZone(),
    user_id: userId ?? '',
    deployment: '',
  };
  return (
    <FormDialog
      {...(routine && { fields: { routine_id: routine.id } })}
      initial={initial}
      onClose={onClose}
      onDone={onDone}
      row={routine ? 'routines.update' : 'routines.create'}
      send={(values) =>
        routine
          ? { name: values.name, ask: values.ask, ...whenOf(values, false) }
          : {
              ...(values.name !== '' && { name: values.name }),
              ask: values.ask,
              ...whenOf(values, true),
              ...(values.user_id !== '' && { user_id: values.user_id }),
              ...(values.deployment !== '' && { deployment: values.deployment }),
            }
      }
      submit={routine ? 'Save' : 'Create routine'}
      title={routine ? 'Edit routine' : 'Create a routine'}
    >
      <TextField hint="If empty: the start of the prompt." label="Name" name="name" placeholder="Morning news" />
      <AreaField label="Prompt" name="ask" placeholder="Summarize what is new since yesterday." rows={3} />
      <When isFixed={routine !== undefined && !schedule} />
      {!routine && <TextField label="User" name="user_id" />}
      {!routine && <TextField label="Deployment" name="deployment" />}
    </FormDialog>
  );
}

function whenOf({ kind, every, schedule, timezone }: Record<string, unknown>, isNew: boolean) {
  if (kind === 'call') return isNew ? { on: 'call' } : {};
  return kind === 'every' ? { every, timezone } : { schedule: { cron: schedule, timezone } };
}

function When({ isFixed }: { isFixed: boolean }) {
  const { values } = useForm();
  if (isFixed) return null;
  return (
    <>
      <SelectField
        hint="Run on a schedule, or when your system calls it."
        label="Trigger"
        name="kind"
        options={[
          ['every', 'Schedule in plain words'],
          ['cron', 'Schedule as cron'],
          ['call', 'API call'],
        ]}
      />
      {values.kind === 'every' && <TextField label="Every" name="every" placeholder="weekday at 08:00" />}
      {values.kind === 'cron' && (
        <TextField
          hint="Minute, hour, day of month, month, day of week."
          isMono
          label="Cron"
          name="schedule"
          placeholder="0 8 * * 1-5"
        />
      )}
      {values.kind !== 'call' && <TextField label="Time zone" name="timezone" placeholder="Europe/Berlin" />}
    </>
  );
}
