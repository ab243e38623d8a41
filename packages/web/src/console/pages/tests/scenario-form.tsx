import type { ReactNode } from 'react';
import { useRole } from '../../data/api.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { AreaField, CheckField, FormDialog, TextField } from '../../parts/form.tsx';
import { Facts } from '../../parts/page.tsx';

type Scenario = ItemOf<'scenarios.list'>;
export type ScenarioDraft = Pick<
  Scenario,
  'name' | 'persona' | 'goal' | 'success_criteria' | 'must_never' | 'tool_results' | 'recorded_calls' | 'approves'
>;

type ScenarioFormProps = {
  deploymentId: string;
  scenario?: Scenario;
  draft?: ScenarioDraft;
  /** Shown above the form. */
  warning?: ReactNode;
  onClose: () => void;
  onDone?: () => void;
};

/** Creates or edits a scenario. Read-only for scenarios of the deployment file, and for roles that cannot change scenarios. */
export function ScenarioForm({
  deploymentId: deployment_id,
  scenario,
  draft,
  warning,
  onClose,
  onDone,
}: ScenarioFormProps) {
  const { may } = useRole();
  const from = scenario ?? draft;
  const initial = {
    name: from?.name ?? '',
    persona: from?.persona ?? 'A customer who writes in short sentences.',
    goal: from?.goal ?? '',
    success_criteria: from?.success_criteria.join('\n') ?? '',
    must_never: from?.must_never.join('\n') ?? '',
    tool_results: from?.tool_results ? JSON.stringify(from.tool_results, null, 2) : '',
    recorded_calls: from?.recorded_calls ? JSON.stringify(from.recorded_calls, null, 2) : '',
    approves: from?.approves ?? false,
  };
  const isFromFile = scenario?.managed_by === 'file';
  if (scenario && (isFromFile || !may('scenarios.update'))) {
    return (
      <Dialog
        description={isFromFile ? 'This scenario is in the deployment file. Change it there.' : undefined}
        isOpen
        onClose={onClose}
        title={scenario.name}
      >
        <Facts
          rows={[
            ['Persona', scenario.persona],
            ['Goal', scenario.goal],
            ['Expects', scenario.success_criteria.join('\n')],
            ['Never', scenario.must_never.join('\n') || '–'],
            ['Approves', scenario.approves ? 'yes' : 'no'],
            ['Runs', String(scenario.runs ?? 1)],
          ]}
        />
        <p className="mt-4 text-right">
          <Button onClick={onClose}>Close</Button>
        </p>
      </Dialog>
    );
  }
  const done = () => {
    onClose();
    onDone?.();
  };
  return (
    <FormDialog
      fields={{ deployment_id, ...(scenario && { scenario_id: scenario.id }) }}
      initial={initial}
      onClose={onClose}
      onDone={done}
      row={scenario ? 'scenarios.update' : 'scenarios.create'}
      send={(values) => sent(values, scenario ? { tool_results: {}, recorded_calls: [] } : {})}
      submit={scenario ? 'Save' : 'Add scenario'}
      title={scenario ? `Edit ${scenario.name}` : draft ? 'Add this scenario' : 'Add a scenario'}
      width="wide"
    >
      {warning}
      <TextField label="Name" name="name" />
      <AreaField label="Persona" name="persona" rows={2} />
      <AreaField label="Goal" name="goal" rows={3} />
      <AreaField hint="One per line." label="Success criteria" name="success_criteria" rows={3} />
      <AreaField hint="One per line. Optional." label="Must never happen" name="must_never" rows={2} />
      <AreaField
        hint="JSON object by tool name: the result to return instead of calling the tool."
        isMono
        label="Tool results"
        name="tool_results"
        rows={3}
      />
      <AreaField
        hint="JSON list of tool, arguments and result, for tools whose result depends on the call."
        isMono
        label="Recorded calls"
        name="recorded_calls"
        rows={3}
      />
      <CheckField label="Simulated user approves requests" name="approves" />
    </FormDialog>
  );
}

const lines = (text: unknown) =>
  String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** Invalid JSON is sent unchanged, so that the server reports it. `emptied` holds the values of cleared fields. */
function sent(
  { success_criteria, must_never, tool_results, recorded_calls, ...rest }: Record<string, unknown>,
  emptied: Record<string, unknown>,
): Record<string, unknown> {
  const asJson = Object.entries({ tool_results, recorded_calls }).map(([name, value]) => {
    const text = String(value ?? '').trim();
    return [name, text === '' ? emptied[name] : readJson(text)] as const;
  });
  return {
    ...rest,
    success_criteria: lines(success_criteria),
    must_never: lines(must_never),
    ...Object.fromEntries(asJson.filter(([, value]) => value !== undefined)),
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
