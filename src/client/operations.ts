// Written from the contract by `npm run generate`.

/** Operations by path and method: the id and, if the operation has one, its input. */
export const paths = {
  '/api/v1/agents/{agentId}/execute': { POST: 'executeAgent body' },
  '/api/v1/agents/{agentId}/estimate': { POST: 'estimateCost body' },
  '/api/v1/agents/{agentId}/executions/{executionId}': { GET: 'getExecution query', DELETE: 'deleteExecution' },
  '/api/v1/agents/{agentId}/executions/{executionId}/events': { GET: 'listExecutionEvents' },
  '/api/v1/agents/{agentId}/executions/{executionId}/steps': { GET: 'listExecutionSteps' },
  '/api/v1/agents/{agentId}/executions/{executionId}/stream': { GET: 'streamExecution query' },
  '/api/v1/agents/{agentId}/executions/{executionId}/cancel': { POST: 'cancelExecution' },
  '/api/v1/agents/{agentId}/executions': { GET: 'listExecutions query' },
  '/api/agents/{agentId}/executions': { GET: 'listExecutionsUnversioned query' },
  '/api/v1/executions': { GET: 'listAllExecutions query' },
  '/api/v1/sessions': { GET: 'listSessions query' },
  '/api/v1/agents/{agentId}/executions/export': { GET: 'exportExecutions query' },
  '/api/v1/executions/export': { GET: 'exportAllExecutions query' },
  '/api/v1/agents/{agentId}/batches': { POST: 'createBatch query', GET: 'listBatches query' },
  '/api/v1/agents/{agentId}/batches/{batchId}': { GET: 'getBatch' },
  '/api/v1/agents/{agentId}/batches/{batchId}/results': { GET: 'getBatchResults query' },
  '/api/v1/agents/{agentId}/batches/{batchId}/rerun': { POST: 'rerunBatch' },
  '/api/v1/agents/{agentId}/batches/{batchId}/cancel': { POST: 'cancelBatch' },
  '/api/agents/{agentId}/execute': { POST: 'executeAgentInDashboard body' },
  '/api/v1/agents/{agentId}/statistics': { GET: 'getStatistics query' },
  '/api/v1/statistics': { GET: 'getWorkspaceStatistics query' },
  '/api/v1/agents': { POST: 'createAgent body', GET: 'listAgents query' },
  '/api/v1/agents/{agentId}': { GET: 'getAgent', PATCH: 'updateAgent body', DELETE: 'deleteAgent' },
  '/api/v1/agents/{agentId}/lifecycle': { POST: 'changeAgentStage body' },
  '/api/v1/agents/{agentId}/limits': { GET: 'getAgentLimits' },
  '/api/v1/agents/{agentId}/refusals': { GET: 'listRefusals' },
  '/api/v1/keys/{apiKeyId}/refusals': { GET: 'listKeyRefusals' },
  '/api/v1/agents/{agentId}/pins': { GET: 'listPins query' },
  '/api/v1/pins': { GET: 'listAllPins query' },
  '/api/v1/prompts': { POST: 'createPrompt body', GET: 'listPrompts query' },
  '/api/v1/prompts/{promptId}': { GET: 'getPrompt', PATCH: 'updatePrompt body' },
  '/api/v1/prompts/{promptId}/archive': { POST: 'archivePrompt' },
  '/api/v1/prompts/{promptId}/restore': { POST: 'restorePrompt' },
  '/api/v1/prompts/{promptId}/versions': { POST: 'createPromptVersion body', GET: 'listPromptVersions query' },
  '/api/v1/prompts/{promptId}/versions/{promptVersionId}': { GET: 'getPromptVersion' },
  '/api/v1/workflows': { POST: 'createWorkflow body', GET: 'listWorkflows query' },
  '/api/v1/workflows/{workflowId}': { GET: 'getWorkflow', PATCH: 'updateWorkflow body', DELETE: 'deleteWorkflow' },
  '/api/v1/workflows/validate': { POST: 'validateWorkflow body' },
  '/api/v1/workflows/{workflowId}/versions': { POST: 'createWorkflowVersion body', GET: 'listWorkflowVersions query' },
  '/api/v1/workflows/{workflowId}/versions/{workflowVersionId}': { GET: 'getWorkflowVersion' },
  '/api/v1/workflows/{workflowId}/pins': { GET: 'listWorkflowPins query' },
  '/api/v1/workflows/{workflowId}/execute': { POST: 'executeWorkflow body' },
  '/api/workflows/{workflowId}/execute': { POST: 'executeWorkflowInDashboard body' },
  '/api/v1/workflows/{workflowId}/runs': { GET: 'listWorkflowRuns query' },
  '/api/v1/workflows/{workflowId}/runs/{workflowRunId}': { GET: 'getWorkflowRun query' },
  '/api/v1/workflows/{workflowId}/runs/{workflowRunId}/stream': { GET: 'streamWorkflowRun query' },
  '/api/v1/workflows/{workflowId}/runs/{workflowRunId}/steps/{stepName}/items': { GET: 'listWorkflowRunItems query' },
  '/api/v1/workflows/{workflowId}/runs/{workflowRunId}/steps/{stepName}/rerun': { POST: 'rerunFailedItems' },
  '/api/v1/workflows/{workflowId}/runs/{workflowRunId}/cancel': { POST: 'cancelWorkflowRun' },
  '/api/v1/workflows/{workflowId}/schedules': { POST: 'createSchedule body', GET: 'listSchedules query' },
  '/api/v1/workflows/{workflowId}/schedules/{scheduleId}': { GET: 'getSchedule', PATCH: 'updateSchedule body', DELETE: 'deleteSchedule' },
  '/api/v1/workflows/{workflowId}/webhooks': { POST: 'createWebhook body', GET: 'listWebhooks query' },
  '/api/v1/workflows/{workflowId}/webhooks/{webhookId}/rotate': { POST: 'rotateWebhook body' },
  '/api/v1/workflows/{workflowId}/webhooks/{webhookId}': { DELETE: 'deleteWebhook' },
  '/api/v1/workflows/{workflowId}/webhooks/{webhookId}/log': { GET: 'getWebhookLog' },
  '/api/v1/webhooks/{webhookId}': { POST: 'receiveWebhook body' },
  '/api/v1/declaration': { GET: 'getDeclaration', POST: 'applyDeclaration body' },
  '/api/v1/endpoints': { POST: 'createEndpoint body', GET: 'listEndpoints' },
  '/api/v1/endpoints/{endpointId}': { GET: 'getEndpoint', PATCH: 'updateEndpoint body', DELETE: 'deleteEndpoint' },
  '/api/v1/endpoints/{endpointId}/rotate': { POST: 'rotateEndpoint body' },
  '/api/v1/endpoints/{endpointId}/test': { POST: 'testEndpoint' },
  '/api/v1/endpoints/{endpointId}/deliveries': { GET: 'listDeliveries query' },
  '/api/v1/endpoints/{endpointId}/deliveries/{eventId}/resend': { POST: 'resendDelivery' },
  '/api/v1/endpoints/{endpointId}/replay': { POST: 'replayDeliveries body' },
  '/api/v1/events': { GET: 'listEvents query' },
  '/api/v1/alerts': { POST: 'createAlert body', GET: 'listAlerts' },
  '/api/v1/alerts/preview': { POST: 'previewNewAlert body' },
  '/api/v1/alerts/{alertId}': { GET: 'getAlert', PATCH: 'updateAlert body', DELETE: 'deleteAlert' },
  '/api/v1/alerts/{alertId}/preview': { POST: 'previewAlert body' },
  '/api/v1/budgets': { POST: 'createBudget body', GET: 'listBudgets' },
  '/api/v1/budgets/{budgetId}': { GET: 'getBudget', PATCH: 'updateBudget body', DELETE: 'deleteBudget' },
  '/api/v1/budgets/{budgetId}/windows': { GET: 'listBudgetWindows query' },
  '/api/v1/tool-servers': { POST: 'createToolServer body', GET: 'listToolServers' },
  '/api/v1/tools': { GET: 'listTools query' },
  '/api/v1/tool-servers/{toolServerId}': { GET: 'getToolServer', PATCH: 'updateToolServer body', DELETE: 'deleteToolServer' },
  '/api/v1/tool-servers/{toolServerId}/rotate': { POST: 'rotateToolServer body' },
  '/api/v1/tool-servers/{toolServerId}/check': { POST: 'checkToolServer' },
  '/api/v1/tool-servers/{toolServerId}/tools/{toolName}/try': { POST: 'tryTool body' },
  '/api/v1/keys': { POST: 'createKey body', GET: 'listKeys query' },
  '/api/v1/keys/{apiKeyId}': { PATCH: 'updateKey body' },
  '/api/v1/keys/{apiKeyId}/revoke': { POST: 'revokeKey' },
  '/api/v1/keys/{apiKeyId}/rotate': { POST: 'rotateKey body' },
  '/api/v1/usage': { GET: 'getUsage' },
  '/api/v1/plan': { PUT: 'setPlan body' },
  '/api/v1/workspace': { PATCH: 'updateWorkspace body' },
  '/api/v1/providers/{name}': { PUT: 'putProvider body', GET: 'getProvider', DELETE: 'deleteProvider' },
  '/api/v1/providers': { GET: 'listProviders' },
  '/api/v1/providers/{name}/test': { POST: 'testProvider body' },
  '/api/v1/providers/{name}/models': { GET: 'listProviderModels' },
  '/api/v1/prices': { GET: 'listPrices query', PUT: 'putPrice body', DELETE: 'deletePrice query' },
  '/api/v1/retention': { GET: 'getRetention', PUT: 'setRetention body' },
  '/api/v1/erasures/preview': { POST: 'previewErasure body' },
  '/api/v1/erasures': { POST: 'createErasure body', GET: 'listErasures query' },
  '/api/v1/erasures/{erasureId}': { GET: 'getErasure' },
  '/api/v1/audit': { GET: 'listAudit query' },
  '/api/v1/me/views': { GET: 'getViews', PUT: 'putViews body' },
  '/api/v1/me': { DELETE: 'deleteMe', GET: 'getMe' },
  '/api/v1/me/dismissals': { PUT: 'dismissNotice body' },
  '/api/v1/members': { GET: 'listMembers' },
  '/api/v1/members/{userId}': { PATCH: 'updateMember body', DELETE: 'removeMember' },
  '/api/v1/invitations': { POST: 'createInvitation body', GET: 'listInvitations' },
  '/api/v1/invitations/{invitationId}': { DELETE: 'deleteInvitation' },
  '/api/v1/invitations/by-token/{token}': { GET: 'getInvitation' },
  '/api/v1/invitations/accept': { POST: 'acceptInvitation body' },
  '/api/v1/identity-providers': { GET: 'listIdentityProviders' },
};

/** Names the parameters of methods. */
export interface PathArguments {
  agentId: [agentId: string];
  executionId: [executionId: string];
  batchId: [batchId: string];
  apiKeyId: [apiKeyId: string];
  promptId: [promptId: string];
  promptVersionId: [promptVersionId: string];
  workflowId: [workflowId: string];
  workflowVersionId: [workflowVersionId: string];
  workflowRunId: [workflowRunId: string];
  stepName: [stepName: string];
  scheduleId: [scheduleId: string];
  webhookId: [webhookId: string];
  endpointId: [endpointId: string];
  eventId: [eventId: string];
  alertId: [alertId: string];
  budgetId: [budgetId: string];
  toolServerId: [toolServerId: string];
  toolName: [toolName: string];
  name: [name: string];
  erasureId: [erasureId: string];
  userId: [userId: string];
  invitationId: [invitationId: string];
  token: [token: string];
}
