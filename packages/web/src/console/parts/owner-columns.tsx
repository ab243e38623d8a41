import type { Column } from './data-table.tsx';
import type { useNames } from './names.ts';
import { Usd } from './shown.tsx';

export type Names = Pick<ReturnType<typeof useNames>, 'ofUser' | 'ofDeployment'>;

type Owned = {
  user_id: string | null;
  deployment_id: string | null;
  deployment_version: number | null;
  cost_usd: number;
};

/** The user, the deployment and the cost of a conversation or task. */
export const ownerColumns = ({ ofUser, ofDeployment }: Names): Column<Owned>[] => [
  {
    id: 'user',
    header: 'User',
    isWideOnly: true,
    cell: ({ user_id }) =>
      user_id === null ? (
        <span className="text-quiet">the org’s agent</span>
      ) : (
        <span title={user_id}>{ofUser(user_id)}</span>
      ),
  },
  {
    id: 'deployment',
    header: 'Deployment',
    isWideOnly: true,
    cell: ({ deployment_id, deployment_version }) =>
      deployment_id === null ? '–' : `${ofDeployment(deployment_id)} v${deployment_version ?? '–'}`,
  },
  {
    id: 'cost',
    header: 'Cost',
    width: '4.5rem',
    align: 'end',
    isWideOnly: true,
    cell: ({ cost_usd }) => <Usd value={cost_usd} />,
  },
];
