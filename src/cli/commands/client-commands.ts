import { type Command, Option } from 'commander';
import { group, identifier, pair, seconds } from '../arguments.ts';
import { declarationCommands } from './declaration-commands.ts';
import { historyCommands } from './history-commands.ts';
import { retentionCommands } from './retention-commands.ts';
import { runCall } from './run-call.ts';

/** The commands that call a running server, with an API key. */
export function clientCommands(program: Command): void {
  execCommands(program);
  agentCommands(group(program, 'agents', 'list, show, move and pin agents'));
  promptCommands(group(program, 'prompts', 'list, show and write prompts'));
  declarationCommands(program, calling);
  historyCommands(program, calling);
  retentionCommands(program, calling);
}

const anAgent = ['<agent>', 'its identifier', identifier] as const;
const anExecution = ['<execution>', 'identifier of the run', identifier] as const;
const aPrompt = ['<prompt>', 'its identifier', identifier] as const;

function execCommands(program: Command): void {
  const cli = () => import('../client/exec.ts');
  const timeout = ['--timeout <seconds>', 'wait no longer; 600 unless given', seconds] as const;
  const interrupt = ['--cancel-on-interrupt', 'Ctrl-C cancels the run, not only the wait'] as const;
  calling(program, 'exec', 'execute an agent: prints the id of the run, or with --wait its output')
    .argument(...anAgent)
    .option('--var <name=value>', 'a variable as text; may be repeated', pair)
    .option('--var-json <name=JSON>', 'a variable as JSON; may be repeated', pair)
    .option('--vars-file <file>', 'variables as a JSON object; - is standard input')
    .option('--idempotency-key <key>', 'the same key and variables run once')
    .option('--wait', 'wait for the end; exit with 1 where the run failed')
    .addOption(new Option(timeout[0], timeout[1]).argParser(timeout[2]).implies({ wait: true }))
    .addOption(new Option(...interrupt).implies({ wait: true }))
    .action((agent, options) =>
      runCall(options, async (call, own) => (await cli()).exec(call, agent, own)),
    );
  calling(program, 'wait', 'wait for a run and print its output; exit with 1 where it failed')
    .argument(...anAgent)
    .argument(...anExecution)
    .option(...timeout)
    .option(...interrupt)
    .action((agent, execution, options) =>
      runCall(options, async (call, own) => (await cli()).wait(call, agent, execution, own)),
    );
  calling(program, 'cancel', 'end a run')
    .argument(...anAgent)
    .argument(...anExecution)
    .action((agent, execution, options) =>
      runCall(options, async (call) => (await cli()).cancel(call, agent, execution)),
    );
}

function agentCommands(command: Command): void {
  const cli = () => import('../client/agents.ts');
  calling(command, 'list', 'all agents, newest first')
    .option('--status <status>', 'Draft, Testing, Deployed or Paused')
    .option('--project <project>', 'only of this project')
    .option('--tag <tag>', 'only with this tag')
    .option('--q <text>', 'part of the name or description')
    .option('--archived', 'the archived ones instead')
    .action((options) =>
      runCall(options, async (call, own) => (await cli()).listAgents(call, own)),
    );
  calling(command, 'show', 'all there is of an agent')
    .argument(...anAgent)
    .action((agent, options) =>
      runCall(options, async (call) => (await cli()).showAgent(call, agent)),
    );
  calling(command, 'lifecycle', 'take an agent to another stage')
    .argument(...anAgent)
    .argument('<action>', 'enable-api, deploy, rollback, disable, re-enable, archive or restore')
    .action((agent, action, options) =>
      runCall(options, async (call) => (await cli()).moveAgent(call, agent, action)),
    );
  calling(command, 'pins', 'which versions an agent has had, newest first')
    .argument(...anAgent)
    .action((agent, options) =>
      runCall(options, async (call) => (await cli()).listPins(call, agent)),
    );
  calling(command, 'pin', 'pin another version of its prompt, or an earlier one again')
    .argument(...anAgent)
    .argument('<version>', 'identifier of the prompt version')
    .action((agent, version, options) =>
      runCall(options, async (call) => (await cli()).pinVersion(call, agent, version)),
    );
}

function promptCommands(command: Command): void {
  const cli = () => import('../client/prompts.ts');
  calling(command, 'list', 'all prompts, newest first')
    .option('--q <text>', 'part of the name or description')
    .option('--archived', 'the archived ones instead')
    .action((options) =>
      runCall(options, async (call, own) => (await cli()).listPrompts(call, own)),
    );
  calling(command, 'show', 'all there is of a prompt, or of one of its versions')
    .argument(...aPrompt)
    .argument('[version]', 'identifier of the version', identifier)
    .action((prompt, version, options) =>
      runCall(options, async (call) => (await cli()).showPrompt(call, prompt, version)),
    );
  calling(command, 'versions', 'the versions of a prompt, newest first')
    .argument(...aPrompt)
    .action((prompt, options) =>
      runCall(options, async (call) => (await cli()).listVersions(call, prompt)),
    );
  calling(command, 'create', 'make a prompt, still without a version; prints its id')
    .requiredOption('--name <name>', 'for people')
    .option('--description <text>', 'for people')
    .action((options) =>
      runCall(options, async (call, own) => (await cli()).createPrompt(call, own)),
    );
  calling(command, 'add-version', 'add a version to a prompt; prints its id')
    .argument(...aPrompt)
    .requiredOption('--user-file <file>', 'template of the user prompt; - is standard input')
    .option('--system-file <file>', 'template of the system prompt')
    .option('--model <provider/model>', 'what runs it unless the agent says otherwise')
    .option('--label <label>', 'v and its number unless given')
    .option('--notes <text>', 'what changed and why')
    .action((prompt, options) =>
      runCall(options, async (call, own) => (await cli()).addVersion(call, prompt, own)),
    );
}

/** A command with the options that say which server it calls. */
function calling(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'answer in JSON, an object a line')
    .optionsGroup('Server:')
    .option('--url <url>', 'CUELINE_URL unless given, else http://127.0.0.1 and PORT')
    .option('--key <key>', 'CUELINE_KEY unless given; that is hidden from other processes')
    .optionsGroup('Options:');
}
