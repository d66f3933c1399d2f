/** A metric without labels, read from `/metrics` of a running process. */
export async function metricOf(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text();
  const [, value] = new RegExp(`^${name} (\\S+)`, 'm').exec(text) ?? [];
  if (value === undefined) throw new Error(`${url}/metrics has no ${name}: ${text}`);
  return Number(value);
}
