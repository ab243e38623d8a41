import { VestraSession } from '@vestra/react';
import { type CSSProperties, useEffect, useId, useState } from 'react';
import { serverUrl } from '../../address.ts';
import { callApi, useOrgAndMode, useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { Fault } from '../../parts/fault.tsx';

const colours = [
  ['accent', 'Accent', '#2c4bd0'],
  ['primary', 'Buttons', '#2c4bd0'],
  ['background', 'Background', '#ffffff'],
  ['foreground', 'Text', '#14171f'],
] as const;

type Look = Partial<Record<(typeof colours)[number][0] | 'radius' | 'font', string>>;

const fonts = ['Georgia, serif', 'ui-monospace, monospace'];
const radii = ['0', '0.5rem', '1.25rem'];

/** A live preview of the embedded session page. Its theme is not stored: the snippet is copied into the host page. */
export default function PagePreview() {
  const place = useOrgAndMode();
  const { may } = useRole();
  const deployments = useList('deployments.list', {}, { limit: 100 });
  const [deployment, setDeployment] = useState('');
  const [userId, setUserId] = useState('console-preview');
  const [scheme, setScheme] = useState<'light' | 'dark'>('light');
  const [look, setLook] = useState<Look>({});
  const [shown, setShown] = useState(0);
  const [error, setError] = useState<Error | null>(null);
  const change = (name: keyof Look, value: string | undefined) =>
    setLook((before) => {
      const { [name]: _, ...rest } = before;
      return value === undefined ? rest : { ...rest, [name]: value };
    });
  useLookAgain(JSON.stringify([look, scheme]));

  const getSession = async ({ conversationId }: { conversationId: string | null }) => {
    setError(null);
    const chosen = conversationId ? { conversation_id: conversationId } : deployment === '' ? {} : { deployment };
    try {
      const { id, url } = await callApi(place, 'sessions.create', { user_id: userId, chat: true, ...chosen });
      // The preview URL may be framed by the console. The plain URL allows only the org's origins.
      return { url: `${serverUrl}/session/${id}?preview${new URL(url).hash}` };
    } catch (failure) {
      setError(failure as Error);
      throw failure;
    }
  };
  const style = Object.fromEntries(Object.entries(look).map(([name, value]) => [`--vestra-${name}`, value]));
  return (
    <section aria-label="Preview" className="panel p-4">
      <div className="mb-3 flex flex-wrap items-end gap-3">
        <Choice label="Deployment" onChange={setDeployment} value={deployment}>
          <option value="">Default</option>
          {deployments.rows.map(({ slug }) => (
            <option key={slug} value={slug}>
              {slug}
            </option>
          ))}
        </Choice>
        <label className="block">
          <span className="mb-1 block text-sm">As user</span>
          <input className="control w-40" onChange={(event) => setUserId(event.target.value)} value={userId} />
        </label>
        <Button
          disabled={!may('sessions.create') || userId.trim() === ''}
          look="primary"
          onClick={() => setShown((times) => times + 1)}
        >
          {shown === 0 ? 'Show preview' : 'Reload preview'}
        </Button>
      </div>
      <div className="mb-3 flex flex-wrap items-end gap-3">
        {colours.map(([name, label, usual]) => (
          <label className="block" key={name}>
            <span className="mb-1 block text-sm">{label}</span>
            <input
              className="h-8 w-14 rounded-md border border-strong-line bg-surface p-0.5"
              onChange={(event) => change(name, event.target.value)}
              type="color"
              value={look[name] ?? usual}
            />
          </label>
        ))}
        <Choice label="Corners" onChange={(value) => change('radius', value || undefined)} value={look.radius ?? ''}>
          <option value="">default</option>
          {radii.map((radius) => (
            <option key={radius}>{radius}</option>
          ))}
        </Choice>
        <Choice label="Font" onChange={(value) => change('font', value || undefined)} value={look.font ?? ''}>
          <option value="">system</option>
          {fonts.map((font) => (
            <option key={font}>{font}</option>
          ))}
        </Choice>
        <Choice label="Scheme" onChange={(value) => setScheme(value as typeof scheme)} value={scheme}>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </Choice>
        {Object.keys(look).length > 0 && (
          <Button look="quiet" onClick={() => setLook({})}>
            Reset
          </Button>
        )}
      </div>
      {error && <Fault className="mb-3" error={error} />}
      {shown > 0 && (
        <div className="mb-4 overflow-hidden rounded-md border" data-page-preview="" style={style as CSSProperties}>
          <VestraSession
            getSession={getSession}
            heading="Preview"
            key={`${shown} ${scheme}`}
            scheme={scheme}
            style={{ display: 'block', blockSize: '32rem' }}
          />
        </div>
      )}
      <CodeBlock code={snippetOf(look, scheme)} label="Add this to your page. Your server creates the session:" />
    </section>
  );
}

/** The element re-reads its theme when an attribute of the document changes. */
function useLookAgain(look: string): void {
  useEffect(() => {
    document.body.dataset.previewedLook = look;
    return () => {
      delete document.body.dataset.previewedLook;
    };
  }, [look]);
}

function Choice(props: { label: string; value: string; onChange: (value: string) => void; children: React.ReactNode }) {
  const id = useId();
  return (
    <div>
      <label className="mb-1 block text-sm" htmlFor={id}>
        {props.label}
      </label>
      <select
        className="control w-auto max-w-48 pr-8"
        id={id}
        onChange={(event) => props.onChange(event.target.value)}
        value={props.value}
      >
        {props.children}
      </select>
    </div>
  );
}

function snippetOf(look: Look, scheme: string): string {
  const rules = Object.entries(look).map(([name, value]) => `    --vestra-${name}: ${value};\n`);
  const style = rules.length === 0 ? '' : `<style>\n  vestra-session {\n${rules.join('')}  }\n</style>\n`;
  return `<script src="${serverUrl}/embed.js" defer></script>\n${style}<vestra-session session-url="/agent-session" scheme="${scheme}"></vestra-session>`;
}
