import { resource } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

export const toolServers = resource('tool servers', 'Tool server', cueline.toolServers);

/** What versions can name, for editors too. A change of a server makes it stale. */
export const tools = resource('tool servers', 'Tool', cueline.tools);

/** Whether its requests leave the process: what is built in signs nothing. */
export const isSigned = (url: string | null): boolean => !url?.startsWith('cueline:');

/** Returns the new secret. Both sign during the grace period. */
export const rotateToolServer = (toolServerId: string) =>
  toolServers.action(
    (graceSeconds: number) => cueline.toolServers.rotate(toolServerId, { graceSeconds }),
    'Secret rotated',
  );

export const checkToolServer = (toolServerId: string) =>
  toolServers.action(() => cueline.toolServers.check(toolServerId), 'Checked');
