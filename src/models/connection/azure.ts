import type { Connection } from './provider-connection.ts';

/**
 * The addresses of Azure. `…/openai/v1` has the Responses API and chat completions. Two older forms have only chat
 * completions, and require an `api-version`: a classic deployment (`…/openai/deployments/NAME`) and the models of
 * other vendors (`…/models`).
 */

/** The portal shows the bare address of a resource. */
export function azureURL(baseURL: string): string {
  const url = URL.parse(baseURL);
  return url?.hostname.endsWith('.azure.com') && /^\/(openai\/?)?$/.test(url.pathname)
    ? `${url.origin}/openai/v1`
    : baseURL;
}

/** The version that is sent unless the provider's `query` names another; `null` where none is needed. */
export function defaultVersion(baseURL: string): string | null {
  const path = URL.parse(baseURL)?.pathname ?? '';
  if (deployment.test(path)) return '2024-10-21';
  return isAzure(baseURL) && path === '/models' ? '2024-05-01-preview' : null;
}

/** Whether the path of a call is appended as it is, and only chat completions exist. */
export function hasOnlyChat(baseURL: string): boolean {
  return defaultVersion(baseURL) !== null;
}

/** Where the models are listed. */
export function azureListURL({ baseURL }: Pick<Connection, 'baseURL'>): string {
  const path = URL.parse(baseURL)?.pathname ?? '';
  if (deployment.test(path)) return `${baseURL.replace(deployment, '')}/models`;
  return hasOnlyChat(baseURL)
    ? `${baseURL.replace(/\/models$/, '')}/info`
    : `${baseURL}/models?api-version=v1`;
}

const deployment = /\/deployments\/[^/]+$/;

function isAzure(baseURL: string): boolean {
  return /\.azure\.com$/.test(URL.parse(baseURL)?.hostname ?? '');
}
