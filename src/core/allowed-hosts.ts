/** The hosts that the operator exempts: `host` or `host:port`, as the URL parser writes them. They may have any address and plain `http:`. */
export type AllowedHosts = ReadonlySet<string>;

export const noAllowedHosts: AllowedHosts = new Set();

/** @throws with a message for the operator if an entry is not `host`, `host:port`, `[IPv6]` or `[IPv6]:port` */
export function parseAllowedHosts(entries: readonly string[]): AllowedHosts {
  return new Set(entries.map(parseAllowedHost));
}

export function isAllowed(url: URL, allowed: AllowedHosts): boolean {
  const port = url.port || (url.protocol === 'http:' ? '80' : '443');
  return allowed.has(url.hostname) || allowed.has(`${url.hostname}:${port}`);
}

function parseAllowedHost(entry: string): string {
  const [, host = '', port] = /^(\[[^\]]+\]|[^[\]:/?#@*\\\s]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const url = URL.parse(`http://${host}/`);
  if (!host || !url || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) {
    throw new Error(`'${entry}' is not a host: write host, host:port, [IPv6] or [IPv6]:port`);
  }
  return port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`;
}
