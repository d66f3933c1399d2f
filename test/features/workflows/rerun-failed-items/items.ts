import { addAgent } from '../../../../harness/agents.ts';
import { makeWorkflow } from '../../../../harness/created-workflows.ts';
import { scriptedModels } from '../../../../harness/models.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure, noCost, noUsage } from '../../../../src/core/model/model-port.ts';

/** A workflow whose step fans out over letters, of which some fail. */
export async function failingItems(config: { readonly listPerMinute?: number } = {}) {
  const failing = new Set<string>();
  const models = scriptedModels();
  const service = await startService({
    config,
    models: {
      call(call, emit) {
        if (!failing.has(call.user)) return models.call(call, emit);
        const usage = { retryable: false, usage: noUsage, cost: noCost };
        return Promise.reject(new ModelFailure('PROVIDER_AUTH', 'No.', usage));
      },
    },
  });
  const { key } = await service.key({ permissions: ['execute', 'read', 'manage'] });
  const agent = await addAgent(service, { user: '{{name}}' });
  const lettersAgent = await addAgent(service, { user: 'item {{name}}' });

  /** A step that fans out over a list of letters. */
  const each = (name: string, list: string) => ({
    ...{ name, agentId: lettersAgent.agentId, onFailure: 'continue' },
    forEach: { list, concurrency: 2, max: 10 },
    variables: { name: '{{item}}' },
  });
  const step = (name: string, value: string) => ({
    ...{ name, agentId: agent.agentId, variables: { name: value } },
  });
  const definition = (others: readonly object[] = []) => ({
    input: { required: ['list'], optional: ['side'] },
    steps: [
      step('split', '{{input.list}}'),
      step('side', '{{input.side}}'),
      each('each', '{{steps.split.output}}'),
      ...others,
      step('sum', '{{steps.each.output}} {{steps.side.output}}'),
    ],
    output: '{{steps.sum.output}}',
  });

  /** From now on, these letters fail and no others. */
  const fail = (letters: readonly string[]) => {
    failing.clear();
    for (const letter of letters) failing.add(`item ${letter}`);
  };

  return {
    ...{ service, key, each, definition, fail },
    /** A run over a, b and c, in which these failed. */
    async run(letters: readonly string[], others?: readonly object[]) {
      fail(letters);
      const workflow = await makeWorkflow(service, definition(others));
      const body = { input: { list: ['a', 'b', 'c'], side: 'S' }, tags: ['nightly'] };
      const started = await service.call('POST', `${workflow.path}/execute`, { key, body });
      const { statusUrl } = started.body;
      const { body: run } = await service.call('GET', `${statusUrl}?wait=60`, { key });
      fail([]);
      return { path: workflow.path, statusUrl: statusUrl as string, run };
    },
    rerun(statusUrl: string, step: string, headers: Record<string, string> = {}) {
      return service.call('POST', `${statusUrl}/steps/${step}/rerun`, { key, headers });
    },
  };
}
