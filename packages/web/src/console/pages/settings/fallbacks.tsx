import type { Answer } from '../../data/rows.ts';
import { ChangeForm } from '../../parts/form.tsx';
import { linesOf } from '../../parts/list-field.tsx';
import { say } from '../../parts/notices.tsx';
import { ByDeployment, type OfDeployment, PanelText } from './by-deployment.tsx';

type Fallbacks = OfDeployment & { models: string };

/** With which models work goes on where a vendor is away. */
export function ModelFallbacks({ org }: { org: Answer<'orgs.get'> }) {
  const rows = Object.entries(org.model_fallbacks).map(
    ([deployment, models]): Fallbacks => ({
      deployment,
      models: models.join('\n'),
    }),
  );
  return (
    <ChangeForm
      initial={{ model_fallbacks: rows }}
      onDone={() => say('Saved')}
      row="orgs.update"
      send={({ model_fallbacks }) => ({
        model_fallbacks: Object.fromEntries(
          (model_fallbacks as Fallbacks[]).map(({ deployment, models }) => [deployment, linesOf(models)]),
        ),
      })}
      submit="Save fallbacks"
    >
      <ByDeployment<Fallbacks> empty={{ models: '' }} label="Fallback models" name="model_fallbacks">
        {(row, change) => (
          <PanelText
            help="model_fallbacks"
            isMono
            label="Models in order of preference, one per line"
            onChange={(models) => change({ models })}
            placeholder="anthropic/claude-sonnet"
            rows={2}
            value={row.models}
          />
        )}
      </ByDeployment>
    </ChangeForm>
  );
}
