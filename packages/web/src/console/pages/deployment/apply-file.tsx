import { VestraError } from '@vestra/sdk/errors';
import { Suspense, useMemo, useState } from 'react';
import { parse } from 'yaml';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Icon } from '../../parts/icons.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { PlanPreview, usePlan } from './plan-preview.tsx';

const FileEditor = lazyPart(() => import('../../parts/editor/file-editor.tsx'));
// Every visitor needs the editor, so it loads in parallel with the file.
void FileEditor.preload();

type ApplyFileProps = {
  text: string;
  onChange: (text: string) => void;
  isChanged: boolean;
  /** Defaults to the name in the file. */
  deploymentId?: string;
  onApplied: (answer: RouteAnswer<'deployments.put'>) => void;
  /** The version that the text is based on, or 0. If the server has another one, nothing is applied. */
  expectedVersion: number;
  /** Returns the version to retry with, or null if the user has to review the conflict. */
  onConflict: (name: string) => Promise<number | null>;
  onDiscard?: () => void;
};

const promotions = [
  ['after_tests', 'when tests pass'],
  ['now', 'immediately'],
  ['no', 'not yet'],
] as const;

/** The editor and its Apply button. Errors are shown beside their lines and above the button. */
export function ApplyFile(props: ApplyFileProps) {
  const { text, onChange, isChanged, deploymentId, onApplied, expectedVersion, onConflict, onDiscard } = props;
  const { may } = useRole();
  const { mode } = useOrgAndMode();
  const [promote, setPromote] = useState<(typeof promotions)[number][0]>('after_tests');
  const [unreadable, setUnreadable] = useState<Error | null>(null);
  const [answer, setAnswer] = useState<RouteAnswer<'deployments.put'> | null>(null);
  const [applied, setApplied] = useState<string | null>(null);
  const [refusals, setRefusals] = useState(0);
  const put = useChange('deployments.put', {
    touches: ['scenarios', 'testRuns', 'functions', 'webhooks', 'routines', 'mcpServers'],
    onDone: (done) => {
      setAnswer(done);
      onApplied(done);
    },
  });
  const fieldsOf = (file: Record<string, unknown>, expected = expectedVersion) => ({
    ...file,
    deployment_id: deploymentId ?? String(file.name ?? ''),
    expected_version: expected,
    ...(mode === 'live' && { promote }),
  });
  const file = fileIn(text);
  const isPlanned =
    isChanged && may('deployments.put') && !(file instanceof Error) && Boolean(deploymentId ?? file.name);
  const { expected_version: _, ...planned } = fieldsOf(file instanceof Error ? {} : file);
  const plan = usePlan(isPlanned ? planned : null);
  const apply = async (expected = expectedVersion): Promise<void> => {
    setUnreadable(file instanceof Error ? file : null);
    if (file instanceof Error) return setRefusals(refusals + 1);
    setApplied(text);
    const fields = fieldsOf(file, expected);
    const error = await put.runNow(fields as never).then(
      () => null,
      (failure: unknown) => failure,
    );
    // All other errors are shown below the editor.
    if (error !== null && !isConflict(error)) setRefusals(refusals + 1);
    if (!isConflict(error)) return;
    const again = await onConflict(fields.deployment_id);
    if (again !== null) await apply(again);
  };
  // Errors stay at their fields until the text changes.
  const isRefused = put.error instanceof VestraError && !isConflict(put.error) && applied === text;
  const refused = useMemo(
    () => (isRefused ? faultsOf(put.error as VestraError) : (plan?.faults ?? noFaults)),
    [isRefused, put.error, plan],
  );
  const fault = unreadable ?? (isConflict(put.error) ? null : put.error);
  const secrets = answer?.webhook_secrets ?? [];
  return (
    <div>
      <Suspense fallback={<FileText text={text} />}>
        <FileEditor
          label="Deployment file"
          onChange={onChange}
          onSave={() => void apply()}
          refusals={refusals}
          refused={refused}
          value={text}
        />
      </Suspense>
      {/* In sight below a long file, with the reason of a refusal. */}
      <div className="sticky bottom-0 z-10 bg-background py-3">
        {fault && <Fault className="mb-3 max-h-48 overflow-y-auto" error={fault} />}
        <div className="flex flex-wrap items-center gap-2">
          <Button
            disabled={!may('deployments.put') || !isChanged}
            isBusy={put.isRunning}
            look="primary"
            onClick={() => void apply()}
          >
            Apply
          </Button>
          {mode === 'live' && (
            <label className="flex items-center gap-2 text-quiet text-sm">
              and promote to live
              <select
                className="control w-auto pr-8"
                onChange={(event) => setPromote(event.target.value as typeof promote)}
                value={promote}
              >
                {promotions.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
          )}
          {isChanged && onDiscard && (
            <Button look="quiet" onClick={onDiscard}>
              Discard changes
            </Button>
          )}
          <span className="ml-auto text-quiet text-sm max-sm:hidden">Ctrl Space: complete · Ctrl S: apply</span>
          {!(file instanceof Error) && (
            <RequestMenu
              label="Copy this change as an API request"
              request={{ row: 'deployments.put', fields: fieldsOf(file) }}
            />
          )}
        </div>
      </div>
      {plan && !put.isRunning && <PlanPreview plan={plan} />}
      {answer && !put.isRunning && !put.error && (
        <div className="mt-3 text-sm" role="status">
          <p className="flex items-center gap-1.5 text-good">
            <Icon name="check" />
            {answer.changed.length === 0 && !answer.created
              ? 'No changes since the previous version.'
              : `Version ${answer.version.version} is saved${answer.promoted ? ' and live' : ''}.`}
          </p>
          {answer.warnings.map(({ param, message }) => (
            <p className="mt-1 text-warn" key={`${param} ${message}`}>
              <code className="font-mono text-xs">{param}</code> {message}
            </p>
          ))}
        </div>
      )}
      {secrets[0] && answer && (
        <SecretOnce
          onClose={() => setAnswer({ ...answer, webhook_secrets: secrets.slice(1) })}
          secret={secrets[0].secret}
          title={`Signing secret for ${secrets[0].url} in ${secrets[0].mode} mode`}
        />
      )}
    </div>
  );
}

/** Shows the text while the editor loads. */
const FileText = ({ text }: { text: string }) => (
  <div className="panel max-h-[70dvh] min-h-72 overflow-auto" data-loading="">
    <pre className="whitespace-pre-wrap break-words py-2 pr-4 pl-14 font-mono text-[0.8125rem] leading-[1.55]">
      {text}
    </pre>
  </div>
);

const isConflict = (error: unknown) => error instanceof VestraError && error.code === 'deployment_changed';

const noFaults: never[] = [];

const faultsOf = ({ errors, param, message }: VestraError) =>
  errors.length > 0
    ? errors.map((each) => ({ param: each.param, message: each.message }))
    : param
      ? [{ param, message }]
      : noFaults;

function fileIn(text: string): Record<string, unknown> | Error {
  try {
    const file: unknown = parse(text, { merge: true });
    if (typeof file !== 'object' || file === null || Array.isArray(file))
      return new Error('A deployment file must be a YAML mapping, such as `name: hello`.');
    return file as Record<string, unknown>;
  } catch (error) {
    return new Error(`Invalid YAML: ${(error as Error).message.split('\n')[0]}`);
  }
}
