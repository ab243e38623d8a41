import { useState } from 'react';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { useUnsaved } from '../../parts/unsaved.tsx';
import { ApplyNewFile } from '../deployment/apply-new-file.tsx';

const template = `name: my-agent
instructions: |
  You are the help desk of a paper shop.
  Answer in two sentences. Say so if you do not know.

# tools:
#   - function: find_order
#     description: Finds an order by its number.
#     input: { number: string }
#     read_only: true

tests:
  - name: greets
    ask: Say hello and ask what you can do for me.
    expect: It says what it is for.
`;

/** Starts from a template that works unchanged. */
export default function NewDeploymentPage() {
  const [text, setText] = useState(template);
  const go = useGo();
  const unsaved = useUnsaved(text !== template);
  return (
    <Page
      above={{ to: '/deployments', title: 'Deployments' }}
      lead={
        <>
          One file describes the agent. Apply it and try it in the playground, or{' '}
          <PageLink className="text-accent underline underline-offset-2" to="/deployments/interview">
            answer a few questions
          </PageLink>{' '}
          to generate it.
        </>
      }
      title="New deployment"
    >
      <ApplyNewFile
        onApplied={({ id, webhook_secrets }) => {
          unsaved.letGo();
          if (webhook_secrets.length === 0) go(`/deployments/${id}`, { talk: 'open' });
        }}
        onChange={setText}
        text={text}
      />
      {unsaved.dialog}
    </Page>
  );
}
