type Deployment = { id: string; status: 'active' | 'archived'; live_version: number | null };

type Talked = { deployment_id: string | null };

export function defaultOf<Each extends Deployment>(
  deployments: readonly Each[],
  conversations: readonly Talked[],
): Each | undefined {
  const active = deployments.filter(({ status }) => status === 'active');
  for (const { deployment_id } of conversations) {
    const used = active.find(({ id }) => id === deployment_id);
    if (used) return used;
  }
  return active.find(({ live_version }) => live_version !== null) ?? active[0] ?? deployments[0];
}
