import type { Column } from './data-table.tsx';
import { DeploymentName, type Names, UserName } from './names.tsx';
import { Usd } from './shown.tsx';

type Owned = {
  user_id: string | null;
  deployment_id: string | null;
  deployment_version: number | null;
  cost_usd: number;
};

/** The user, the deployment and the cost of a conversation or task. */
export const ownerColumns = (names: Names): Column<Owned>[] => [
  {
    id: 'user',
    header: 'User',
    isWideOnly: true,
    cell: ({ user_id }) =>
      user_id === null ? (
        <span className="text-quiet">The org’s own agent</span>
      ) : (
        <UserName id={user_id} names={names} />
      ),
  },
  {
    id: 'deployment',
    header: 'Deployment',
    isWideOnly: true,
    cell: ({ deployment_id, deployment_version }) =>
      deployment_id === null ? (
        '–'
      ) : (
        <>
          <DeploymentName id={deployment_id} names={names} /> v{deployment_version ?? '–'}
        </>
      ),
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
