import { useOne } from '../../data/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Loaded } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, Status, usd } from '../../parts/shown.tsx';

/** The models that a deployment may choose, with their prices. */
export function Models() {
  const models = useOne('models.list', {});
  return (
    <Loaded query={models}>
      {({ data, notes }) =>
        data.length === 0 ? (
          <EmptyState icon="skill" title="No models">
            Give the server a key of a vendor, or the address of a model of your own, and start it again.
          </EmptyState>
        ) : (
          <>
            <div className="mb-2 flex items-center gap-2">
              <p className="grow text-quiet text-sm">Prices in US dollars for a million tokens.</p>
              <RequestMenu request={models.request} />
            </div>
            {notes.map((note) => (
              <p className="mb-2 rounded-md bg-warn-soft px-3 py-2 text-warn" key={note}>
                {note}
              </p>
            ))}
            <div className="panel overflow-x-auto">
              <table className="w-full min-w-[44rem] text-left">
                <thead>
                  <tr className="border-b bg-muted/60">
                    {['Model', 'Reads', 'Context', 'Input', 'Output', 'Cache read', 'Cache write', ''].map(
                      (head, index) => (
                        <th
                          className={`eyebrow px-3 py-2 ${index > 1 && index < 7 ? 'text-right' : ''}`}
                          key={head}
                          scope="col"
                        >
                          {head || <span className="sr-only">State</span>}
                        </th>
                      ),
                    )}
                  </tr>
                </thead>
                <tbody>
                  {data.map((model) => (
                    <tr className="border-b last:border-0" key={model.id}>
                      <th className="px-3 py-2 font-normal" scope="row">
                        <span className="font-medium">{model.name}</span>{' '}
                        {model.default && <Status tone="accent">default</Status>}
                        <code className="block font-mono text-quiet text-xs">{model.id}</code>
                      </th>
                      <td className="px-3 py-2 text-quiet text-sm">{model.takes.join(', ')}</td>
                      <td className="figures px-3 py-2 text-right">{count(model.context_tokens)}</td>
                      {(
                        [
                          model.price.input_per_mtok,
                          model.price.output_per_mtok,
                          model.price.cache_read_per_mtok,
                          model.price.cache_write_per_mtok,
                        ] as const
                      ).map((price, index) => (
                        // biome-ignore lint/suspicious/noArrayIndexKey: four prices in their order.
                        <td className="figures px-3 py-2 text-right" key={index}>
                          {model.priced ? usd(price) : '?'}
                        </td>
                      ))}
                      <td className="px-3 py-2">
                        {model.available ? (
                          <Status tone={model.priced ? 'good' : 'warn'}>{model.priced ? 'there' : 'no price'}</Status>
                        ) : (
                          <span title={model.unavailable_reason ?? ''}>
                            <Status>not there</Status>
                          </span>
                        )}
                        {model.retires_on && <span className="block text-quiet text-xs">until {model.retires_on}</span>}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )
      }
    </Loaded>
  );
}
