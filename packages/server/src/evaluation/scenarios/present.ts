import type { ScenarioRow } from './tables.ts';

/** What was never given is left out, so that what is shown can be sent back to the create route. */
export const presentScenario = (row: ScenarioRow) => ({
  object: 'scenario' as const,
  id: row.id,
  deployment_id: row.deployment_id,
  name: row.name,
  persona: row.persona,
  goal: row.goal,
  success_criteria: row.success_criteria,
  must_never: row.must_never,
  ...(row.tool_results !== null && { tool_results: row.tool_results }),
  ...(row.recorded_calls !== null && { recorded_calls: row.recorded_calls }),
  ...(row.approves !== null && { approves: row.approves }),
  managed_by: row.managed_by,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
