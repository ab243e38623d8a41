import type { Answer } from '../../data/rows.ts';
import { ChangeForm } from '../../parts/form.tsx';
import { linesOf } from '../../parts/list-field.tsx';
import { say } from '../../parts/notices.tsx';
import { ByDeployment, type OfDeployment, PanelText } from './by-deployment.tsx';

type Opening = OfDeployment & { message: string; suggestions: string };

/** What the page of a session says before anything was said. */
export function Openings({ org }: { org: Answer<'orgs.get'> }) {
  const rows = Object.entries(org.openings).map(
    ([deployment, { message = '', suggestions }]): Opening => ({
      deployment,
      message,
      suggestions: suggestions.join('\n'),
    }),
  );
  return (
    <ChangeForm
      initial={{ openings: rows }}
      onDone={() => say('Saved. New sessions use it.')}
      row="orgs.update"
      send={({ openings }) => ({ openings: Object.fromEntries((openings as Opening[]).map(sent)) })}
      submit="Save openings"
    >
      <ByDeployment<Opening> empty={{ message: '', suggestions: '' }} label="Welcome message" name="openings">
        {(row, change) => (
          <>
            <PanelText
              help="openings.message"
              label="Message"
              onChange={(message) => change({ message })}
              placeholder="Hello! How can we help?"
              rows={2}
              value={row.message}
            />
            <PanelText
              help="openings.suggestions"
              label="Suggested questions, one per line"
              onChange={(suggestions) => change({ suggestions })}
              placeholder="Where is my order?"
              rows={3}
              value={row.suggestions}
            />
          </>
        )}
      </ByDeployment>
    </ChangeForm>
  );
}

const sent = ({ deployment, message, suggestions }: Opening) => [
  deployment,
  { ...(message.trim() !== '' && { message: message.trim() }), suggestions: linesOf(suggestions) },
];
