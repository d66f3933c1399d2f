/**
 * Methods that only send what their operation takes: the name of each, and its operation or the
 * field of the response that it returns.
 */
export const resources = {
  /** Cancels an execution. Throws `ALREADY_ENDED` if it has ended. */
  cancel: 'cancelExecution',
  /** Permanently deletes the record of an ended execution. */
  deleteExecution: 'deleteExecution',
  /** The events sent for an execution, oldest first, with their deliveries. */
  executionEvents: 'listExecutionEvents.events',
  usage: 'getUsage',
  setPlan: 'setPlan',
  /** Sums over all agents, or one group per agent with `groupBy: 'agent'`. */
  statistics: 'getWorkspaceStatistics',
  /** Retention of records and their bodies, in days. */
  retention: 'getRetention',
  setRetention: 'setRetention',
  /** Audit log, newest first. */
  audit: 'listAudit',
  /** The signed-in user. Requires a session. */
  me: 'getMe',
  /** Hides a notice of the dashboard for some days, or for good. Requires a session. */
  dismiss: 'dismissNotice',
  /** Deletes the account of the signed-in user. Requires a session. */
  deleteMe: 'deleteMe',
  /** Oldest first. Continue with the last `eventId` as `after`. */
  events: 'listEvents.events',
  agents: {
    create: 'createAgent',
    list: 'listAgents',
    get: 'getAgent',
    /** `agentConfig` is merged and `null` removes a field. `promptVersionId` pins another version. */
    update: 'updateAgent',
    delete: 'deleteAgent',
    /** Pinned versions, newest first. */
    pins: 'listPins',
    /** Pinned versions of all agents, newest first. */
    allPins: 'listAllPins',
    /** Current usage of each limited window. */
    limits: 'getAgentLimits',
    statistics: 'getStatistics',
  },
  batches: {
    /** One page, newest first. */
    list: 'listBatches',
    get: 'getBatch',
    /** Cancels a batch. Throws `ALREADY_ENDED` if it has ended. */
    cancel: 'cancelBatch',
  },
  prompts: {
    create: 'createPrompt',
    list: 'listPrompts',
    get: 'getPrompt',
    update: 'updatePrompt',
    archive: 'archivePrompt',
    restore: 'restorePrompt',
  },
  versions: {
    create: 'createPromptVersion',
    /** Newest first, without the templates. */
    list: 'listPromptVersions',
    get: 'getPromptVersion',
  },
  workflows: {
    create: 'createWorkflow',
    list: 'listWorkflows',
    get: 'getWorkflow',
    /** `workflowVersionId` pins another version. */
    update: 'updateWorkflow',
    delete: 'deleteWorkflow',
    addVersion: 'createWorkflowVersion',
    /** Newest first, without the definitions. */
    versions: 'listWorkflowVersions',
    getVersion: 'getWorkflowVersion',
    /** Pinned versions, newest first. */
    pins: 'listWorkflowPins',
    runs: 'listWorkflowRuns',
    /** Items of a `forEach` step, in order. `status` contains only the first ones. */
    items: 'listWorkflowRunItems',
    /** Cancels a workflow run. Throws `ALREADY_ENDED` if it has ended. */
    cancel: 'cancelWorkflowRun',
  },
  schedules: {
    create: 'createSchedule',
    list: 'listSchedules',
    get: 'getSchedule',
    update: 'updateSchedule',
    delete: 'deleteSchedule',
  },
  webhooks: {
    /** Includes the secret, which is shown once. */
    create: 'createWebhook',
    list: 'listWebhooks',
    /** Includes the new secret, which is shown once. */
    rotate: 'rotateWebhook',
    delete: 'deleteWebhook',
  },
  /** Endpoints that receive events. */
  endpoints: {
    create: 'createEndpoint',
    list: 'listEndpoints.endpoints',
    get: 'getEndpoint',
    update: 'updateEndpoint',
    delete: 'deleteEndpoint',
    /** Newest first. */
    deliveries: 'listDeliveries',
    /** Returns how many deliveries are sent again. */
    replay: 'replayDeliveries.replayed',
  },
  alerts: {
    create: 'createAlert',
    list: 'listAlerts.alerts',
    get: 'getAlert',
    update: 'updateAlert',
    delete: 'deleteAlert',
    /** When an alert that does not exist would have fired in the last days. */
    previewNew: 'previewNewAlert',
  },
  declaration: {
    /** The current state of the workspace as a declaration. */
    read: 'getDeclaration',
  },
  keys: {
    create: 'createKey',
    list: 'listKeys',
    /** Changes the name and the rate limits. */
    update: 'updateKey',
    revoke: 'revokeKey',
  },
  providers: {
    /** Replaces the whole configuration, including the credential. */
    put: 'putProvider',
    list: 'listProviders.providers',
    /** Those that the server's environment configures, for all workspaces. */
    environment: 'listProviders.environment',
    /** The models that the provider lists, as `provider/model`, or why it did not. */
    models: 'listProviderModels',
    get: 'getProvider',
    delete: 'deleteProvider',
  },
  prices: { put: 'putPrice', list: 'listPrices.prices' },
  members: { list: 'listMembers.members', remove: 'removeMember' },
  erasures: {
    /** Deletes every record in which this variable has this value, in the background. */
    create: 'createErasure',
    list: 'listErasures',
    get: 'getErasure',
  },
  invitations: {
    /** Includes the invitation link in `url`, which is shown once. */
    create: 'createInvitation',
    list: 'listInvitations.invitations',
    delete: 'deleteInvitation',
    /** Shows what the invitation with this token grants. Requires no session. */
    open: 'getInvitation',
    accept: 'acceptInvitation',
  },
  /** Saved views of executions of the signed-in user. Require a session. */
  views: {
    list: 'listViews.views',
    create: 'createView',
    update: 'updateView',
    delete: 'deleteView',
  },
  session: {
    /** Identity providers for sign-in, in addition to e-mail and password. */
    identityProviders: 'listIdentityProviders.identityProviders',
    /** The identity providers, and whether a password can be reset by e-mail. */
    signInOptions: 'listIdentityProviders',
  },
} as const;
