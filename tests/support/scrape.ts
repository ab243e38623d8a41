/** Samples of a process by name and labels. Throws if Prometheus could not parse a line. */
export async function scrape(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/metrics`, { headers });
  const text = await response.text();
  const samples = new Map<string, number>();
  const names = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined && type !== undefined) names.set(name, type);
    if (line === '' || line.startsWith('# ')) continue;
    const [, sample, value] = /^([a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})?) (\S+)$/.exec(line) ?? [];
    if (sample === undefined || !Number.isFinite(Number(value))) throw new Error(`This is no sample: ${line}`);
    samples.set(sample, Number(value));
  }
  return { status: response.status, headers: response.headers, text, samples, names };
}
