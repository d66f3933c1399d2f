/** The path under which a proxy publishes the server; empty at the root of its host. The server writes it into the page. */
export const basePath = readBasePath(document.documentElement.dataset.basePath);

/** Where programs reach the API. */
export const serverURL = location.origin + basePath;

/** The address of a path of the server or of a page, for everything that does not go through the router. */
export function serverPath(path: string): string {
  return basePath + path;
}

/** The inverse of `serverPath`: the path of the open page as the router knows it. */
export function routerPath(path: string): string {
  return path.slice(basePath.length) || '/';
}

/** The development server leaves the placeholder. */
function readBasePath(text = ''): string {
  return text.startsWith('/') ? text : '';
}
