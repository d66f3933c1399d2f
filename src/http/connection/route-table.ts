import type { FastifyInstance } from 'fastify';

export const shownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Records the routes of a server, to tell an unknown path from a known path with another method. */
export function recordRoutes(app: FastifyInstance): (url: string) => string[] {
  const routes: { readonly methods: string[]; readonly pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const methods = [method].flat();
    const pattern = url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+').replace('*', '.*');
    routes.push({ methods, pattern: new RegExp(`^${pattern}$`) });
  });
  return (url) => {
    const path = url.split('?')[0] ?? '';
    const matching = routes.filter(({ pattern }) => pattern.test(path));
    return shownMethods.filter((one) => matching.some(({ methods }) => methods.includes(one)));
  };
}
