import { type Command, Option } from 'commander';
import {
  collectNumber,
  collectPair,
  collectText,
  dollars,
  group,
  identifier,
  seconds,
  wholeNumber,
} from '../arguments.ts';
import { couldNotRunCode } from '../client/command-failure.ts';
import { historyCommands } from './history-commands.ts';
import { retentionCommands } from './retention-commands.ts';
import { calling, plainCommand, serverCommand } from './server-command.ts';

/** Commands that call a running server with an API key. */
export function clientCommands(program: Command): void {
  execCommands(program);
  agentCommands(group(program, 'agents', 'list and show agents, change their stage, pin versions'));
  promptCommands(group(program, 'prompts', 'list, show and create prompts and versions'));
  providerCommands(group(program, 'providers', 'list, show, store, test and delete providers'));
  toolServerCommands(
    group(program, 'tool-servers', 'list, show, store, check and try servers of tools'),
  );
  declarationCommands(program);
  historyCommands(program);
  batchCommands(group(program, 'batch', 'run files of calls'));
  budgetCommands(group(program, 'budgets', 'list, set and delete budgets'));
  eventCommands(program);
  retentionCommands(program);
}

const agentArgument = ['<agent>', 'id, slug or alias of the agent', identifier] as const;
const executionArgument = ['<execution>', 'id of the execution', identifier] as const;
const promptArgument = ['<prompt>', 'id of the prompt', identifier] as const;

function execCommands(program: Command): void {
  const cli = () => import('../client/exec.ts');
  const timeout = ['--timeout <seconds>', 'maximum time to wait (default: 600)', seconds] as const;
  const interrupt = [
    '--cancel-on-interrupt',
    'on Ctrl-C, cancel the execution instead of only the wait',
  ] as const;
  serverCommand(
    program,
    'exec',
    'execute an agent; prints the execution id or, with --wait or --stream, the output',
  )
    .argument(...agentArgument)
    .option('--var <name=value>', 'variable as a string; repeatable', collectPair)
    .option('--var-json <name=JSON>', 'variable as JSON; repeatable', collectPair)
    .option('--vars-file <file>', 'variables as a JSON object; - reads standard input')
    .option('--file <name=@path>', 'an image or file, or name=URL; repeatable', collectPair)
    .option(
      '--messages <name=@path>',
      'a list of messages from a JSON file; repeatable',
      collectPair,
    )
    .option('--user <user>', 'the end user that the call is for')
    .option('--session <session>', 'the conversation or session that it belongs to')
    .option('--tag <tag>', 'a tag; repeatable', collectText)
    .option('--metadata <name=value>', 'metadata; repeatable', collectPair)
    .option('--idempotency-key <key>', 'executes once per key and variables')
    .option('--playground', 'mark a playground execution, which lists and statistics leave out')
    .option('--max-cost <USD>', 'the most that the execution may cost', dollars)
    .option('--wait', 'wait for the end; exit code 1 if the execution fails')
    .option('--stream', 'print the text as it arrives; exit code 1 if the execution fails')
    .addOption(new Option(timeout[0], timeout[1]).argParser(timeout[2]).implies({ wait: true }))
    .addOption(new Option(...interrupt).implies({ wait: true }))
    .action(calling(async () => (await cli()).exec));
  serverCommand(
    program,
    'wait',
    'wait for an execution and print its output; exit code 1 if it fails',
  )
    .argument(...agentArgument)
    .argument(...executionArgument)
    .option(...timeout)
    .option(...interrupt)
    .action(calling(async () => (await cli()).wait));
  const steps = 'list the turns of the model and the calls of tools of an execution';
  plainCommand(program, 'steps', 'listExecutionSteps.steps', steps, {
    columns: ['turn', 'kind', 'name', 'state', 'sent', 'startedAt', 'endedAt', 'result'],
  })
    .argument(...agentArgument)
    .argument(...executionArgument);
  plainCommand(program, 'cancel', 'cancelExecution', 'cancel an execution', {
    done: ({ executionId, status }) => `${executionId}: ${status}.`,
  })
    .argument(...agentArgument)
    .argument(...executionArgument);
}

function agentCommands(command: Command): void {
  plainCommand(command, 'list', 'listAgents.agents', 'list all agents, newest first', {
    columns: ['agentId', 'agentName', 'slug', 'status', 'apiEnabled', 'promptVersionLabel'],
  })
    .option('--status <status>', 'Draft, Testing, Deployed or Paused')
    .option('--project <project>', 'only agents in this project')
    .option('--tag <tag>', 'only agents with this tag')
    .option('--q <text>', 'only agents with this text in the name or description')
    .option('--archived', 'list archived agents instead');
  plainCommand(command, 'show', 'getAgent', 'show an agent').argument(...agentArgument);
  const lifecycle = 'change the lifecycle stage of an agent';
  plainCommand(command, 'lifecycle', 'changeAgentStage', lifecycle, {
    field: 'action',
    done: ({ agentName, archived, status }) =>
      `${agentName} is now ${archived ? 'archived' : status}.`,
  })
    .argument(...agentArgument)
    .argument('<action>', 'enable-api, deploy, rollback, disable, re-enable, archive or restore');
  const pins = 'list the pinned versions of an agent, newest first';
  plainCommand(command, 'pins', 'listPins.pins', pins, {
    columns: ['pinnedAt', 'promptVersionId', 'promptVersionLabel', 'pinnedBy'],
  }).argument(...agentArgument);
  const refusals = 'list the refused calls of an agent in the last 30 days, by key and code';
  plainCommand(command, 'refusals', 'listRefusals.refusals', refusals, {
    columns: ['lastAt', 'apiKeyId', 'code', 'count', 'lastMessage'],
  }).argument(...agentArgument);
  const pin = 'pin a prompt version; pin an earlier one to roll back';
  plainCommand(command, 'pin', 'updateAgent', pin, {
    field: 'promptVersionId',
    done: ({ agentName, promptVersionLabel }) => `${agentName} now pins ${promptVersionLabel}.`,
  })
    .argument(...agentArgument)
    .argument('<version>', 'id of the prompt version');
}

function promptCommands(command: Command): void {
  const cli = () => import('../client/prompts-command.ts');
  plainCommand(command, 'list', 'listPrompts.prompts', 'list all prompts, newest first', {
    columns: ['promptId', 'name', 'visibility', 'versionCount', 'updatedAt'],
  })
    .option('--q <text>', 'only prompts with this text in the name or description')
    .option('--archived', 'list archived prompts instead');
  serverCommand(command, 'show', 'show a prompt or one of its versions')
    .argument(...promptArgument)
    .argument('[version]', 'id of the version', identifier)
    .action(calling(async () => (await cli()).showPrompt));
  const versions = 'list the versions of a prompt, newest first';
  plainCommand(command, 'versions', 'listPromptVersions.versions', versions, {
    columns: ['promptVersionId', 'promptVersionLabel', 'model', 'variables', 'notes'],
  }).argument(...promptArgument);
  const create = 'create a prompt without versions; prints its id';
  plainCommand(command, 'create', 'createPrompt', create, { done: ({ promptId }) => promptId })
    .requiredOption('--name <name>', 'display name')
    .option('--description <text>', 'description of the prompt')
    .option('--visibility <visibility>', 'private or public (default: private)');
  serverCommand(command, 'add-version', 'add a version to a prompt; prints its id')
    .argument(...promptArgument)
    .option('--user-file <file>', 'template of the user prompt; - reads standard input')
    .option('--system-file <file>', 'template of the system prompt')
    .option('--from-file <file>', 'JSON with fields of the version: messages, tools, settings')
    .option('--model <provider/model>', 'default model of the version')
    .option('--label <label>', 'label of the version (default: v and its number)')
    .option('--notes <text>', 'what changed and why')
    .action(calling(async () => (await cli()).addVersion));
}

function providerCommands(command: Command): void {
  const cli = () => import('../client/providers-command.ts');
  const name = ['<name>', 'the part of its models before the slash'] as const;
  const list = 'list the providers of the workspace';
  plainCommand(command, 'list', 'listProviders.providers', list, {
    columns: ['name', 'kind', 'baseURL', 'hasApiKey', 'updatedAt'],
  });
  const show = 'show a provider, without its secrets';
  plainCommand(command, 'show', 'getProvider', show).argument(...name);
  serverCommand(command, 'put', 'create or replace a provider, credential included')
    .argument(...name)
    .argument(
      '<file>',
      'JSON as in the API: kind, apiKey, baseURL, headers, …; - reads standard input',
    )
    .action(calling(async () => (await cli()).putProvider));
  plainCommand(command, 'delete', 'deleteProvider', 'delete a provider and its credential', {
    done: (provider) => `Removed the provider ${provider.name}.`,
  }).argument(...name);
  serverCommand(command, 'test', 'test the connection; exit code 1 if the test fails')
    .argument(...name)
    .option('--model <model>', 'send one small real call to this model, and print the exchange')
    .action(calling(async () => (await cli()).testProvider));
}

function toolServerCommands(command: Command): void {
  const cli = () => import('../client/tool-servers-command.ts');
  const server = ['<server>', 'id of the tool server', identifier] as const;
  const file = [
    '<file>',
    'JSON as in the API: name, kind, url, headers, tools, …; - is standard input',
  ] as const;
  plainCommand(command, 'list', 'listToolServers.toolServers', 'list the tool servers', {
    columns: ['toolServerId', 'name', 'url', 'enabled', 'toolNames', 'problem'],
  });
  serverCommand(command, 'tools', 'list the tools that versions can name; needs only manage')
    .option('--server <name>', 'only tools of this server, with their descriptions')
    .action(calling(async () => (await cli()).listTools));
  const show = 'show a tool server with its tools, without its secrets';
  plainCommand(command, 'show', 'getToolServer', show).argument(...server);
  serverCommand(command, 'create', 'create a tool server; prints its signing secret once')
    .argument(...file)
    .action(calling(async () => (await cli()).createToolServer));
  serverCommand(command, 'update', 'change what a file names')
    .argument(...server)
    .argument(...file)
    .action(calling(async () => (await cli()).updateToolServer));
  plainCommand(
    command,
    'rotate',
    'rotateToolServer',
    'replace the signing secret; prints the new one',
  )
    .argument(...server)
    .option('--grace-seconds <n>', 'how long the old one still signs', wholeNumber);
  serverCommand(command, 'check', 'ask whether the server answers; exit code 1 if it does not')
    .argument(...server)
    .action(calling(async () => (await cli()).checkToolServer));
  serverCommand(command, 'try', 'call a tool once; exit code 1 if it fails')
    .argument(...server)
    .argument('<tool>', 'name of the tool')
    .option('--arguments-file <file>', 'arguments as a JSON object; - reads standard input')
    .action(calling(async () => (await cli()).tryTool));
  plainCommand(command, 'delete', 'deleteToolServer', 'delete a tool server', {
    done: ({ toolServerId }) => `Removed the tool server ${toolServerId}.`,
  }).argument(...server);
}

/** Tool servers, prompts, agents, budgets and workflows as code. */
function declarationCommands(program: Command): void {
  const cli = () => import('../client/declaration-command.ts');
  const file = ['[file]', 'YAML file; - is standard input or output', 'cueline.yaml'] as const;
  serverCommand(program, 'pull', 'export prompts, agents, budgets and workflows to a file')
    .argument(...file)
    .action(calling(async () => (await cli()).pull));
  serverCommand(
    program,
    'diff',
    'show the changes that apply would make, and what is not in the file',
  )
    .argument(...file)
    .option('--exit-code', 'exit with 2 if apply would change something')
    .action(calling(async () => (await cli()).diff));
  serverCommand(program, 'apply', 'apply a file: everything or nothing')
    .argument(...file)
    .action(calling(async () => (await cli()).apply));
  serverCommand(
    program,
    'test',
    'execute the examples of a file; exit code 1 if one fails, 2 if one could not be run',
  )
    .argument(...file)
    .option(
      '--agent <name>',
      'only examples of this agent, by name or slug; repeatable',
      collectText,
    )
    .option('--pinned', 'test the agents of the workspace instead of those that the file declares')
    .option('--concurrency <n>', 'executions at the same time (default: 4)', wholeNumber)
    .option('--timeout <seconds>', 'maximum time of each execution (default: 600)', seconds)
    .option('--junit <file>', 'also write a report in the format of JUnit')
    // Wrong usage is no failed example.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : couldNotRunCode))
    .action(
      calling(
        async () => (await import('../client/test-examples.ts')).testExamples,
        couldNotRunCode,
      ),
    );
}

function batchCommands(command: Command): void {
  serverCommand(command, 'run', 'upload a file of calls and print the results as JSON lines')
    .argument('<file>', 'JSON lines with id and variables; - for standard input')
    .requiredOption('--agent <agent>', 'id, slug or alias of the agent', identifier)
    .option('--idempotency-key <key>', 'continues an interrupted upload with the same key')
    .action(calling(async () => (await import('../client/batch-command.ts')).runBatch));
}

/** All need the permission `own`. */
function budgetCommands(command: Command): void {
  const cli = () => import('../client/budgets-command.ts');
  plainCommand(command, 'list', 'listBudgets.budgets', 'list the budgets of the workspace', {
    columns: ['budgetId', 'name', 'per', 'period', 'limitUSD', 'enabled'],
  });
  serverCommand(command, 'put', 'create the budget of this name, or change what the options name')
    .argument('<name>', 'its name')
    .option('--limit <USD>', 'what the calls of a window may cost', dollars)
    .option('--per <per>', 'whose calls share a limit: none, agent, key or user')
    .option('--period <period>', 'hour, day, week, month or total')
    .option('--agent <agent>', 'only calls of this agent; repeatable', collectText)
    .option('--api-key <id>', 'only calls with this key; repeatable', collectText)
    .option('--tag <tag>', 'only calls with this tag; repeatable', collectText)
    .option('--max-tokens <n>', 'maxTokens of agents that have none', wholeNumber)
    .option('--threshold <percent>', 'percent at which to tell; repeatable', collectNumber)
    .option('--on-unknown <rule>', 'models without a price: refuse or count_zero')
    .option('--enabled', 'enable it')
    .option('--no-enabled', 'disable it')
    .action(calling(async () => (await cli()).putBudget));
  serverCommand(command, 'delete', 'delete a budget, and what it has counted')
    .argument('<budget>', 'its id or name')
    .action(calling(async () => (await cli()).removeBudget));
}

function eventCommands(program: Command): void {
  serverCommand(
    program,
    'listen',
    'forward events, signed, to a URL on this machine; prints the secret. Needs the permission own',
  )
    .requiredOption('--forward-to <URL>', 'where to send the events')
    .option('--type <type>', 'only events of this type; repeatable', collectText)
    .action(calling(async () => (await import('../client/listen.ts')).listen));
}
