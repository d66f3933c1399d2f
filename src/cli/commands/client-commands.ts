import { type Command, Option } from 'commander';
import { collectPair, collectText, group, identifier, seconds } from '../arguments.ts';
import { runCall } from '../client/run-call.ts';
import { batchCommands } from './batch-commands.ts';
import { declarationCommands } from './declaration-commands.ts';
import { eventCommands } from './event-commands.ts';
import { historyCommands } from './history-commands.ts';
import { providerCommands } from './provider-commands.ts';
import { retentionCommands } from './retention-commands.ts';

/** Commands that call a running server with an API key. */
export function clientCommands(program: Command): void {
  execCommands(program);
  agentCommands(group(program, 'agents', 'list and show agents, change their stage, pin versions'));
  promptCommands(group(program, 'prompts', 'list, show and create prompts and versions'));
  providerCommands(
    group(program, 'providers', 'list, show, store, test and delete providers'),
    serverCommand,
  );
  declarationCommands(program, serverCommand);
  historyCommands(program, serverCommand);
  batchCommands(program, serverCommand);
  eventCommands(program, serverCommand);
  retentionCommands(program, serverCommand);
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
    .option('--wait', 'wait for the end; exit code 1 if the execution fails')
    .option('--stream', 'print the text as it arrives; exit code 1 if the execution fails')
    .addOption(new Option(timeout[0], timeout[1]).argParser(timeout[2]).implies({ wait: true }))
    .addOption(new Option(...interrupt).implies({ wait: true }))
    .action((agent, options) =>
      runCall(options, async (call, own) => (await cli()).exec(call, agent, own)),
    );
  serverCommand(
    program,
    'wait',
    'wait for an execution and print its output; exit code 1 if it fails',
  )
    .argument(...agentArgument)
    .argument(...executionArgument)
    .option(...timeout)
    .option(...interrupt)
    .action((agent, execution, options) =>
      runCall(options, async (call, own) => (await cli()).wait(call, agent, execution, own)),
    );
  serverCommand(program, 'cancel', 'cancel an execution')
    .argument(...agentArgument)
    .argument(...executionArgument)
    .action((agent, execution, options) =>
      runCall(options, async (call) => (await cli()).cancel(call, agent, execution)),
    );
}

function agentCommands(command: Command): void {
  const cli = () => import('../client/agents.ts');
  serverCommand(command, 'list', 'list all agents, newest first')
    .option('--status <status>', 'Draft, Testing, Deployed or Paused')
    .option('--project <project>', 'only agents in this project')
    .option('--tag <tag>', 'only agents with this tag')
    .option('--q <text>', 'only agents with this text in the name or description')
    .option('--archived', 'list archived agents instead')
    .action((options) =>
      runCall(options, async (call, own) => (await cli()).listAgents(call, own)),
    );
  serverCommand(command, 'show', 'show an agent')
    .argument(...agentArgument)
    .action((agent, options) =>
      runCall(options, async (call) => (await cli()).showAgent(call, agent)),
    );
  serverCommand(command, 'lifecycle', 'change the lifecycle stage of an agent')
    .argument(...agentArgument)
    .argument('<action>', 'enable-api, deploy, rollback, disable, re-enable, archive or restore')
    .action((agent, action, options) =>
      runCall(options, async (call) => (await cli()).moveAgent(call, agent, action)),
    );
  serverCommand(command, 'pins', 'list the pinned versions of an agent, newest first')
    .argument(...agentArgument)
    .action((agent, options) =>
      runCall(options, async (call) => (await cli()).listPins(call, agent)),
    );
  serverCommand(command, 'pin', 'pin a prompt version; pin an earlier one to roll back')
    .argument(...agentArgument)
    .argument('<version>', 'id of the prompt version')
    .action((agent, version, options) =>
      runCall(options, async (call) => (await cli()).pinVersion(call, agent, version)),
    );
}

function promptCommands(command: Command): void {
  const cli = () => import('../client/prompts.ts');
  serverCommand(command, 'list', 'list all prompts, newest first')
    .option('--q <text>', 'only prompts with this text in the name or description')
    .option('--archived', 'list archived prompts instead')
    .action((options) =>
      runCall(options, async (call, own) => (await cli()).listPrompts(call, own)),
    );
  serverCommand(command, 'show', 'show a prompt or one of its versions')
    .argument(...promptArgument)
    .argument('[version]', 'id of the version', identifier)
    .action((prompt, version, options) =>
      runCall(options, async (call) => (await cli()).showPrompt(call, prompt, version)),
    );
  serverCommand(command, 'versions', 'list the versions of a prompt, newest first')
    .argument(...promptArgument)
    .action((prompt, options) =>
      runCall(options, async (call) => (await cli()).listVersions(call, prompt)),
    );
  serverCommand(command, 'create', 'create a prompt without versions; prints its id')
    .requiredOption('--name <name>', 'display name')
    .option('--description <text>', 'description of the prompt')
    .option('--visibility <visibility>', 'private or public (default: private)')
    .action((options) =>
      runCall(options, async (call, own) => (await cli()).createPrompt(call, own)),
    );
  serverCommand(command, 'add-version', 'add a version to a prompt; prints its id')
    .argument(...promptArgument)
    .option('--user-file <file>', 'template of the user prompt; - reads standard input')
    .option('--system-file <file>', 'template of the system prompt')
    .option('--from-file <file>', 'JSON with fields of the version: messages, tools, settings')
    .option('--model <provider/model>', 'default model of the version')
    .option('--label <label>', 'label of the version (default: v and its number)')
    .option('--notes <text>', 'what changed and why')
    .action((prompt, options) =>
      runCall(options, async (call, own) => (await cli()).addVersion(call, prompt, own)),
    );
}

/** Adds a command with the options for calling a server. */
function serverCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print JSON, one object per line')
    .optionsGroup('Server:')
    .option('--url <url>', 'server URL (default: CUELINE_URL or http://127.0.0.1:PORT)')
    .option('--key <key>', 'API key (default: CUELINE_KEY, which other processes cannot see)')
    .optionsGroup('Options:');
}
