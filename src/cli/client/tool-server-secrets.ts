import type { Declaration } from '../../client/index.ts';
import { environmentVariable } from '../../process/config/caller-folder.ts';
import { CommandFailure } from './command-failure.ts';

type DeclaredServer = NonNullable<Declaration['toolServers']>[number];

/** Headers of tool servers are secrets, so files name variables of the environment in them: `Bearer ${CRM_TOKEN}`. */
export function withSecrets(server: DeclaredServer): DeclaredServer {
  if (typeof server?.headers !== 'object' || server.headers === null) return server;
  const headers = Object.entries(server.headers).map(([name, value]) => [
    name,
    typeof value === 'string'
      ? filled(value, `toolServers "${server.name}", header ${name}`)
      : value,
  ]);
  return { ...server, headers: Object.fromEntries(headers) };
}

function filled(text: string, place: string): string {
  return text.replace(/\$\{(\w+)\}/g, (_, variable: string) => {
    const value = environmentVariable(variable);
    if (value) return value;
    throw new CommandFailure(
      `${place} needs the environment variable ${variable}, which is not set.`,
    );
  });
}
