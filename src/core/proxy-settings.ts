/** The proxies for outbound calls, from `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. */
export interface ProxySettings {
  readonly http: string | null;
  readonly https: string | null;
  /** Hosts that are called directly, as `NO_PROXY` lists them. */
  readonly noProxy: string;
}

export const noProxies: ProxySettings = { http: null, https: null, noProxy: '' };

export function usesProxy({ http, https }: ProxySettings): boolean {
  return http !== null || https !== null;
}

/** As Node's own HTTP client takes them. */
export function proxyEnv({ http, https, noProxy }: ProxySettings): Record<string, string> {
  return {
    ...(http !== null && { HTTP_PROXY: http }),
    ...(https !== null && { HTTPS_PROXY: https }),
    NO_PROXY: noProxy,
  };
}
