import type { AgentSettings } from '../../../core/agent/agent-settings.ts';
import { effective, type ModelSettings } from '../../../core/agent/model-settings.ts';
import { findUnboundedOption, unboundedMessage } from '../../../core/agent/unbounded-options.ts';
import { CallFailure } from '../../../core/failure.ts';
import { splitModelName } from '../../../core/model/model-port.ts';
import type { Trx } from '../../../db/database.ts';
import { listBodyExtraNames } from '../statements/models.ts';

/**
 * What a provider adds to the body of each call must not make a limit of cost meaningless. Its values are secret, so its fields inside
 * of objects are checked at a call only.
 * @throws {CallFailure} if an agent with a limit of cost has a model of such a provider
 */
export async function requireBoundedProviders(
  trx: Trx,
  workspaceId: string,
  { config }: Pick<AgentSettings, 'config'>,
  version: ModelSettings,
): Promise<void> {
  if (config.maxCostUSD === undefined) return;
  const models = config.models ?? [effective(config, version).model ?? ''];
  const names = models.map((model) => splitModelName(model).provider);
  for (const { name, bodyExtraNames } of await listBodyExtraNames(trx, workspaceId, names)) {
    const option = findUnboundedOption(
      Object.fromEntries(bodyExtraNames.map((one) => [one, null])),
    );
    if (option === null) continue;
    const message = `${unboundedMessage(`bodyExtra.${option}`)} It belongs to the provider '${name}'.`;
    throw new CallFailure('CONFLICT', message);
  }
}
