import { useState } from 'react';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { ApplyFile } from '../deployment/apply-file.tsx';

const template = `name: my-agent
instructions: |
  You are the help desk of a shop for paper.
  Answer in two sentences. Say so when you do not know.

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

/** A first file that works as it is. */
export default function NewDeploymentPage() {
  const [text, setText] = useState(template);
  const go = useGo();
  return (
    <Page
      above={{ to: '/deployments', title: 'Deployments' }}
      lead="One file says what the agent does. Apply it as it is, and talk to it in the playground."
      title="New deployment"
    >
      <ApplyFile
        isChanged
        onApplied={({ id, webhook_secrets }) => webhook_secrets.length === 0 && go(`/deployments/${id}`)}
        onChange={setText}
        text={text}
      />
    </Page>
  );
}
