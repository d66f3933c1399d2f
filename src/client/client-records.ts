import type { BodyOf, Output, QueryOf } from './routes.ts';

/** Types of what methods take and return, where they have a name. */

export type PageQuery = QueryOf<'listKeys'>;

export type Agent = Output<'getAgent'>;
export type AgentLimits = Output<'getAgentLimits'>;
export type AgentInput = BodyOf<'createAgent'>;
export type AgentPatch = BodyOf<'updateAgent'>;
/** Moves an agent from one lifecycle stage to another. */
export type LifecycleAction = BodyOf<'changeAgentStage'>['action'];
export type AgentFilters = QueryOf<'listAgents'>;
export type PinFilters = QueryOf<'listAllPins'>;
export type StatisticsQuery = QueryOf<'getStatistics'>;

export type Prompt = Output<'getPrompt'>;
export type PromptVersion = Output<'getPromptVersion'>;
export type PromptInput = BodyOf<'createPrompt'>;
export type PromptPatch = BodyOf<'updatePrompt'>;
export type PromptVersionInput = BodyOf<'createPromptVersion'>;
export type PromptFilters = QueryOf<'listPrompts'>;

export type Batch = Output<'getBatch'>;
export type BatchPage = Output<'listBatches'>;
export type BatchAccepted = Output<'createBatch'>;
export type BatchResult = Output<'getBatchResults'>;
export type BatchResultFilters = QueryOf<'getBatchResults'>;

export type Workflow = Output<'getWorkflow'>;
export type WorkflowInput = BodyOf<'createWorkflow'>;
export type WorkflowPatch = BodyOf<'updateWorkflow'>;
export type WorkflowFilters = QueryOf<'listWorkflows'>;
export type WorkflowVersion = Output<'getWorkflowVersion'>;
export type WorkflowVersionInput = BodyOf<'createWorkflowVersion'>;
export type WorkflowRunFilters = QueryOf<'listWorkflowRuns'>;
export type WorkflowItemFilters = QueryOf<'listWorkflowRunItems'>;

export type Schedule = Output<'getSchedule'>;
export type ScheduleInput = BodyOf<'createSchedule'>;
export type SchedulePatch = BodyOf<'updateSchedule'>;
export type IssuedWebhook = Output<'createWebhook'>;
export type WebhookInput = BodyOf<'createWebhook'>;
export type ReceivedEvent = Output<'getWebhookLog'>['events'][number];
export type DeclarationRead = Output<'getDeclaration'>;
export type Declaration = DeclarationRead['declaration'];
export type DeclarationChange = Output<'applyDeclaration'>['changes'][number];

/** With the definitions of its tools. */
export type ToolServer = Output<'getToolServer'>;
export type ToolServerSummary = Output<'listToolServers'>['toolServers'][number];
/** What a version can name. */
export type ListedTool = Output<'listTools'>['tools'][number];
/** Includes the signing secret, which is shown once. */
export type IssuedToolServer = Output<'createToolServer'>;
export type ToolServerInput = BodyOf<'createToolServer'>;
export type ToolServerPatch = BodyOf<'updateToolServer'>;
export type ToolServerCheck = Output<'checkToolServer'>;
export type TriedTool = Output<'tryTool'>;

export type EventEndpoint = Output<'getEndpoint'>;
/** Includes the secret, which is shown once. */
export type IssuedEventEndpoint = Output<'createEndpoint'>;
export type EventEndpointInput = BodyOf<'createEndpoint'>;
export type EventEndpointPatch = BodyOf<'updateEndpoint'>;
export type DeliveryFilters = QueryOf<'listDeliveries'>;
export type DeliveryPage = Output<'listDeliveries'>;
export type Delivery = DeliveryPage['deliveries'][number];
export type DeliveryReplay = BodyOf<'replayDeliveries'>;
export type EventQuery = QueryOf<'listEvents'>;
export type CuelineEvent = Output<'listEvents'>['events'][number];
export type Alert = Output<'getAlert'>;
export type AlertInput = BodyOf<'createAlert'>;
export type AlertPatch = BodyOf<'updateAlert'>;
export type AlertPreviewInput = BodyOf<'previewNewAlert'>;
export type AlertPreview = Output<'previewNewAlert'>;

export type Budget = Output<'getBudget'>;
export type BudgetInput = BodyOf<'createBudget'>;
export type BudgetPatch = BodyOf<'updateBudget'>;
/** Includes warnings of agents without `maxTokens`. */
export type NewBudget = Output<'createBudget'>;
export type BudgetWindow = Output<'listBudgetWindows'>['windows'][number];
export type BudgetWindowQuery = QueryOf<'listBudgetWindows'>;

export type ApiKey = Output<'revokeKey'>;
/** Includes the secret in `key`. It is shown once. */
export type IssuedApiKey = Output<'createKey'>;
export type ApiKeyInput = BodyOf<'createKey'>;
export type ApiKeyPatch = BodyOf<'updateKey'>;

export type WorkspaceStatisticsQuery = QueryOf<'getWorkspaceStatistics'>;
export type Usage = Output<'getUsage'>;
export type Plan = Output<'setPlan'>;
export type Provider = Output<'getProvider'>;
export type ProviderModels = Output<'listProviderModels'>;
export type EnvironmentProvider = Output<'listProviders'>['environment'][number];
export type ConnectionTest = Output<'testProvider'>;
export type ProviderInput = BodyOf<'putProvider'>;
export type Price = Output<'putPrice'>;
export type PriceInput = BodyOf<'putPrice'>;
export type Member = Output<'updateMember'>;
export type Role = Member['role'];
export type IssuedInvitation = Output<'createInvitation'>;
export type OpenedInvitation = Output<'getInvitation'>;
export type InvitationInput = BodyOf<'createInvitation'>;
export type Acceptance = BodyOf<'acceptInvitation'>;
export type Retention = Output<'getRetention'>;
export type Erasure = Output<'getErasure'>;
export type ErasureInput = BodyOf<'createErasure'>;
export type ErasurePreview = Output<'previewErasure'>;
export type AuditFilters = QueryOf<'listAudit'>;
export type View = Output<'getViews'>['views'][number];
export type DismissalInput = BodyOf<'dismissNotice'>;
export type Me = Output<'getMe'>;
