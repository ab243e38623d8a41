import { Suspense } from 'react';
import type { RouteAnswer } from '../../data/rows.ts';
import { ChangeForm } from '../../parts/form.tsx';
import { guideAddress } from '../../parts/guide-link.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { ListField, linesOf } from '../../parts/list-field.tsx';
import { say } from '../../parts/notices.tsx';
import { Section, Waiting } from '../../parts/page.tsx';
import { ByDeployment, type OfDeployment, PanelText } from './by-deployment.tsx';

const PagePreview = lazyPart(() => import('./page-preview.tsx'));

/** Embedding settings, welcome messages and a preview of the session page. */
export function PagesAndEmbedding({ org }: { org: RouteAnswer<'orgs.get'> }) {
  return (
    <>
      <div className="mb-8 grid items-start gap-6 *:min-w-0 lg:grid-cols-2">
        <div className="panel p-4">
          <ChangeForm
            initial={{
              allowed_embed_origins: org.allowed_embed_origins.join('\n'),
              allowed_return_urls: org.allowed_return_urls.join('\n'),
            }}
            onDone={() => say('Saved')}
            row="orgs.update"
            send={({ allowed_embed_origins, allowed_return_urls }) => ({
              allowed_embed_origins: linesOf(allowed_embed_origins),
              allowed_return_urls: linesOf(allowed_return_urls),
            })}
            submit="Save"
          >
            <ListField
              hint="Origins of your pages that may embed the session page, one per line."
              label="Embed origins"
              name="allowed_embed_origins"
              placeholder="https://app.example.com"
            />
            <ListField
              hint="URLs that a browser may return to after signing in to an app, one per line."
              label="Return URLs"
              name="allowed_return_urls"
              placeholder="https://app.example.com/connected"
            />
          </ChangeForm>
        </div>
        <div className="panel p-4">
          <Openings org={org} />
        </div>
      </div>
      <Section
        actions={
          <a
            className="text-accent text-sm underline underline-offset-2"
            href={guideAddress('embedding')}
            rel="noopener"
            target="_blank"
          >
            How to embed
          </a>
        }
        title="Preview"
      >
        <Suspense fallback={<Waiting />}>
          <PagePreview />
        </Suspense>
      </Section>
    </>
  );
}

type Opening = OfDeployment & { message: string; suggestions: string };

/** The welcome message and suggestions of the session page. */
function Openings({ org }: { org: RouteAnswer<'orgs.get'> }) {
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
      submit="Save welcome messages"
    >
      <ByDeployment<Opening>
        empty={{ message: '', suggestions: '' }}
        hint="What the session page shows before the first message, for each deployment."
        label="Welcome messages"
        name="openings"
      >
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
