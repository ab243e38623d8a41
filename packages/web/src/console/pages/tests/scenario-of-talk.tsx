import { useState } from 'react';
import { useRole } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Waiting } from '../../parts/page.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { type ScenarioDraft, ScenarioForm } from './scenario-form.tsx';

type Draft = RouteAnswer<'conversations.draftScenario'>;

/** Turns a conversation or a task into a scenario: draft, review, save and run. */
export function ScenarioOfTalk({ conversationId, taskId }: { conversationId: string; taskId?: string }) {
  const { may } = useRole();
  const go = useGo();
  const [step, setStep] = useState<'closed' | 'drafting' | 'saved'>('closed');
  const draft = useChange('conversations.draftScenario');
  const run = useChange('testRuns.create', { touches: ['deployments'], onDone: ({ id }) => go(`/test-runs/${id}`) });
  if (!may('conversations.draftScenario') || !may('scenarios.create')) return null;
  const close = () => setStep('closed');
  const begin = () => {
    setStep('drafting');
    draft.run({ conversation_id: conversationId, ...(taskId && { task_id: taskId }) });
  };
  const found = draft.isRunning ? undefined : draft.answer;
  return (
    <>
      <Button onClick={begin}>
        <Icon name="test" /> Create scenario
      </Button>
      {step === 'drafting' && found && (
        <ScenarioForm
          deploymentId={found.deployment_id}
          draft={found.scenario as ScenarioDraft}
          onClose={close}
          onDone={() => setStep('saved')}
          warning={<BeforeSaving draft={found} />}
        />
      )}
      <Dialog isOpen={step === 'drafting' && !found} onClose={close} title="Create scenario">
        {draft.isRunning && <Waiting what="Reading the conversation" />}
        {draft.error && <Fault error={draft.error} retry={begin} />}
      </Dialog>
      <Dialog
        description="Every test run of the deployment now includes it."
        isOpen={step === 'saved'}
        onClose={close}
        title="Scenario saved"
      >
        {run.error && <Fault error={run.error} />}
        <DialogActions>
          <Button onClick={() => go('/tests', { deployment: found?.deployment_id ?? '' })}>See all tests</Button>
          <Button
            disabled={!may('testRuns.create')}
            isBusy={run.isRunning}
            look="primary"
            onClick={() => found && run.run({ deployment_id: found.deployment_id })}
          >
            <Icon name="play" /> Run tests
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}

/** Scenarios are stored and visible to developers, so personal data must be removed first. */
function BeforeSaving({ draft: { personal, notes, drafted_by } }: { draft: Draft }) {
  return (
    <div className="flex flex-col gap-3">
      {personal.length > 0 && (
        <div className="rounded-md bg-warn-soft px-3 py-2" data-personal="" role="note">
          <p className="font-medium">This contains personal data. Replace it before you save:</p>
          <ul className="mt-1 list-disc pl-5">
            {personal.map(({ value, fields }) => (
              <li className="break-words" key={value}>
                <strong>{value}</strong> in {fields.map((field) => field.replaceAll('_', ' ')).join(', ')}
              </li>
            ))}
          </ul>
          <p className="mt-1 text-sm">Scenarios are stored and visible in both modes. Only known names are detected.</p>
        </div>
      )}
      {notes.length > 0 && (
        <ul className="list-disc pl-5 text-quiet text-sm">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {drafted_by && <p className="text-quiet text-sm">Name, persona and criteria were drafted by {drafted_by}.</p>}
    </div>
  );
}
