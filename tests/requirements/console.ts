import { area } from '../requirement.ts';

export const consoleArea = area('console', 'done', [
  [
    'CON-001',
    'docs/console.md#finding-your-way',
    'Every route has a place in the console, or a written reason why it has none.',
  ],
  [
    'CON-002',
    'docs/console.md#coming-in',
    'A member signs in at `/console` with email and password, signs out, and comes back to the address they asked for.',
  ],
  [
    'CON-003',
    'docs/console.md#coming-in',
    'The link of an invitation leads to a page that creates the member and signs them in.',
  ],
  ['CON-004', 'docs/console.md#coming-in', 'Org and mode are parts of the address; test mode is seen at once.'],
  [
    'CON-005',
    'docs/console.md#coming-in',
    'A session that ends during an edit is signed in again over the page; nothing typed is lost and the change is made once.',
  ],
  [
    'CON-006',
    'docs/console.md#coming-in',
    'Hostile text in any field is shown as text, and the page’s policy is never broken.',
  ],
  [
    'CON-007',
    'docs/console.md#coming-in',
    'Every page is free of barriers that axe knows of, in both themes, and fits 390 pixels.',
  ],
  [
    'CON-008',
    'docs/console.md#coming-in',
    'The console does not offer what a role may not do, and the server refuses it.',
  ],
  [
    'CON-009',
    'docs/console.md#finding-your-way',
    'A refusal shows its sentence, code, field and the id of the request.',
  ],
  ['CON-010', 'docs/console.md#finding-your-way', 'The console follows events without a reload.'],
  [
    'CON-011',
    'docs/console.md#coming-in',
    'The call behind a view or a change can be copied as curl and as a call of the SDK, and works.',
  ],
  [
    'CON-012',
    'docs/console.md#coming-in',
    'The console is one page for every address below `/console`, under a policy that runs no script but its own.',
  ],
  [
    'CON-013',
    'docs/console.md#building-running-and-paying',
    'A deployment file is written in an editor that shows its faults in place; who applies it over another’s change sees both first.',
  ],
  [
    'CON-014',
    'docs/console.md#building-running-and-paying',
    'In the playground approvals and function calls are answered in place, and each step is beside the conversation.',
  ],
  [
    'CON-015',
    'docs/console.md#building-running-and-paying',
    'The inbox holds what waits, oldest first, and lets go of it when it is answered.',
  ],
  [
    'CON-016',
    'docs/console.md#building-running-and-paying',
    'A task shows its result and the trace of its steps; a conversation what was said and its events.',
  ],
  [
    'CON-017',
    'docs/console.md#building-running-and-paying',
    'Scenarios are added and played, and each verdict is shown with its conversation.',
  ],
  [
    'CON-100',
    'docs/console.md#building-running-and-paying',
    'Documents are dropped into a notebook, each with its own status, and searched as the agent would; a skill is uploaded by its files.',
  ],
  [
    'CON-101',
    'docs/console.md#building-running-and-paying',
    'Secrets are set and deleted by name; no value is ever shown.',
  ],
  [
    'CON-102',
    'docs/console.md#building-running-and-paying',
    'The policy of each tool of a server is seen and set in one matrix.',
  ],
  [
    'CON-103',
    'docs/console.md#building-running-and-paying',
    'A user’s caps, spend, memory, files and computer are on one page, and erasing asks for the id to be typed.',
  ],
  [
    'CON-104',
    'docs/console.md#building-running-and-paying',
    'A batch is created from a CSV or JSONL file, and its results are downloaded as a file whose cells no table program executes.',
  ],
  [
    'CON-105',
    'docs/console.md#building-running-and-paying',
    'A routine shows its next ten times in words, in its own time zone, and is paused.',
  ],
  [
    'CON-106',
    'docs/console.md#building-running-and-paying',
    'Webhook endpoints with their deliveries, payloads and retries; a signature is checked without leaving the page.',
  ],
  [
    'CON-107',
    'docs/console.md#building-running-and-paying',
    'Spend by day with the cap line, by any grouping, as CSV; caps and alerts are changed.',
  ],
  [
    'CON-108',
    'docs/console.md#coming-in',
    'Members are invited and reset by links shown once; everybody changes their own name and password and ends their sign-ins.',
  ],
  [
    'CON-200',
    'docs/console.md#coming-in',
    'A passkey is added with the password, named, renamed and removed on the account page, and signs in on the sign-in page.',
  ],
  [
    'CON-201',
    'docs/console.md#coming-in',
    "An owner sets up the company's sign-in, tries it with their own account, and sees what is lost before it is removed; its secret is never shown.",
  ],
  [
    'CON-202',
    'docs/console.md#coming-in',
    'A member links and unlinks the company account, and signs in again with it if the session ended in the middle of something.',
  ],
  ['CON-203', 'docs/console.md#finding-your-way', 'The list of members follows changes without a reload.'],
  [
    'CON-204',
    'docs/console.md#building-running-and-paying',
    'Answers are rated in a conversation, and a deployment shows the ratings counted by version, filtered, each with its conversation.',
  ],
  [
    'CON-205',
    'docs/console.md#building-running-and-paying',
    'The list of what is left to set up ticks a cap when somebody set one, not because every org begins with caps.',
  ],
  [
    'CON-206',
    'docs/conversations.md#feedback',
    'The session page has two thumbs under each reply, by keyboard too; a bad one takes a comment, and both are there again after a reload.',
  ],
  [
    'CON-260',
    'docs/console.md#finding-your-way',
    'Every page links to its page of the guide; a dead link fails a test.',
  ],
  [
    'CON-261',
    'docs/console.md#finding-your-way',
    'Every field of a form has its help in place: the contract’s words, or those of the page.',
  ],
  [
    'CON-262',
    'docs/versions.md#avoid-overwriting-a-change',
    'A file that names the version it was written from is applied only while that is the newest, otherwise 409 `deployment_changed`; of several at once one is saved.',
  ],
  [
    'CON-263',
    'docs/console.md#building-running-and-paying',
    'A member who applies a file that another has changed meanwhile sees both side by side, also if both press at once.',
  ],
  [
    'CON-551',
    'docs/console.md#building-running-and-paying',
    'The file of a deployment can be read before its editor has come.',
  ],
  [
    'CON-264',
    'docs/console.md#finding-your-way',
    "Every change can be copied as a request: before it is made in forms and questions, after it from the page's menu; a typed secret is left out.",
  ],
  [
    'CON-265',
    'docs/console.md#building-running-and-paying',
    'Routines have a calendar: what ran, failed or did not happen, and what is to come, each on its day of the time zone on show.',
  ],
  [
    'CON-266',
    'docs/console.md#building-running-and-paying',
    'Openings, fallback models and traces of the org are changed in its settings, and the page of a session is shown there in the look that is tried; no other origin may embed the preview.',
  ],
  [
    'CON-267',
    'docs/versions.md#compare-two-versions',
    'Two versions are compared by what their documents and skills say, text by text, within their own org.',
  ],
  [
    'CON-268',
    'docs/console.md#building-running-and-paying',
    'A trace is looked at closer by dragging, and by buttons that a keyboard reaches.',
  ],
  [
    'CON-300',
    'docs/console.md#the-first-hour',
    'A new company does its whole first hour in the console: from the sign-in and an agent by interview to a cap that is reached and announced.',
  ],
  [
    'CON-301',
    'docs/console.md#finding-your-way',
    'The console asks before leaving unapplied text, by a link, the back button or the tab.',
  ],
  ['CON-302', 'docs/console.md#finding-your-way', 'A message that is refused stands in its field again.'],
  [
    'CON-303',
    'docs/console.md#finding-your-way',
    'A server that restarts under the page is waited for; what was typed stays and is sent once.',
  ],
  [
    'CON-304',
    'docs/console.md#finding-your-way',
    'The back button goes back from every page and closes what was opened.',
  ],
  [
    'CON-230',
    'docs/console.md#learning-from-use',
    'A conversation or a task becomes a scenario with the results of its tools; personal data is listed above the form, and the tests can be run at once.',
  ],
  [
    'CON-231',
    'docs/console.md#learning-from-use',
    'A version answers real conversations again: chosen on the tests page, followed on a separate page, with both answers and the calls that differ.',
  ],
  [
    'CON-320',
    'docs/console.md#finding-your-way',
    'A list of any length is loaded and drawn only as far as it is visible; a page that fails is requested again only by hand.',
  ],
  [
    'CON-321',
    'docs/console.md#building-running-and-paying',
    'Whether a tool server may ask the agent’s model is shown and changed on its page.',
  ],
  ['CON-322', 'docs/console.md#finding-your-way', 'On a phone the chosen tab of a page is in sight.'],
  [
    'CON-531',
    'docs/console.md#finding-your-way',
    'A page whose scripts, looks or answers were lost on the way comes by itself once the server answers; what was typed stays.',
  ],
  [
    'CON-532',
    'docs/console.md#finding-your-way',
    'Data that could not be loaded while the server was down is requested again by itself, also if the browser believes itself offline.',
  ],
  [
    'CON-533',
    'docs/console.md#finding-your-way',
    'A change is shown also if the list was still loading when it was made.',
  ],
  ['CON-534', 'docs/console.md#finding-your-way', 'A page calls each route that it is said to be the place of.'],
  [
    'CON-535',
    'docs/console.md#the-first-hour',
    'An interview continues after a reload, by its address or from the page it was begun on.',
  ],
  [
    'CON-650',
    'docs/console.md#building-running-and-paying',
    'A reply that failed is in the thread with its sentence, its code and Try again, while it happens and after a reload; the badge is `failed`.',
  ],
  [
    'CON-651',
    'docs/console.md#building-running-and-paying',
    'A model call that failed is a bar of the trace with the reason.',
  ],
  [
    'CON-652',
    'docs/console.md#building-running-and-paying',
    'A reply that a person stopped is shown as Stopped, and is no error.',
  ],
  [
    'CON-653',
    'docs/console.md#building-running-and-paying',
    'Usage by user and by deployment draws the spend that has neither, and names deployments.',
  ],
  [
    'CON-730',
    'docs/console.md#building-running-and-paying',
    'The menu and the title of the tab count the pending interactions. A page that is not part of the role says who can open it.',
  ],
  [
    'CON-731',
    'docs/console.md#building-running-and-paying',
    'The inbox shows those for a person first, each oldest first, and keys choose, approve and deny.',
  ],
  [
    'CON-702',
    'docs/sessions.md#the-page',
    'On the session page “Thinking…” is shown for the reply that is being made. A pending function call has its line where it was made.',
  ],
  [
    'CON-710',
    'docs/console.md#building-running-and-paying',
    'Replies are shown as Markdown, or as the model wrote them. HTML in a reply is text, and nothing in it is loaded.',
  ],
  [
    'CON-711',
    'docs/console.md#building-running-and-paying',
    'A model step of the trace shows its request and its answer. The request is folded, can be searched and copied, and names the parts that are not stored.',
  ],
  [
    'CON-712',
    'docs/console.md#building-running-and-paying',
    'A tool step of the trace shows its input and output as tables or JSON, without credentials. Each model step shows its cost.',
  ],
  [
    'CON-713',
    'docs/console.md#building-running-and-paying',
    'Each reply and each failure leads to its trace, which fits every width.',
  ],
  [
    'CON-714',
    'docs/console.md#building-running-and-paying',
    'A conversation shows the names of its user and deployment, and no id while they load. An amount is rounded in one way.',
  ],
  [
    'CON-715',
    'docs/console.md#building-running-and-paying',
    'An approval shows each argument once, with money as money.',
  ],
  [
    'CON-716',
    'docs/console.md#building-running-and-paying',
    'The keys J and K lead to the next and the previous conversation of the list.',
  ],
  [
    'CON-720',
    'docs/console.md#finding-your-way',
    'Lists of conversations and tasks show first words, the name of the user, the deployment, the status, the failure, the cost and the time.',
  ],
  [
    'CON-721',
    'docs/console.md#finding-your-way',
    'Lists of conversations, tasks and users are searched by text. Filters and search are in the address.',
  ],
  [
    'CON-722',
    'docs/console.md#finding-your-way',
    'Ctrl K finds users by name or email, and conversations and tasks by their words.',
  ],
  [
    'CON-740',
    'docs/conversations.md#overview',
    '`GET /v1/overview` counts conversations, replies, failures by cause, latency, cost and pending approvals of a period, by deployment, of one org and mode.',
  ],
  [
    'CON-741',
    'docs/console.md#building-running-and-paying',
    'Home shows in one sentence whether all is well, with figures for 24 hours, 7 and 30 days and by deployment. Each cause of failures leads to its conversations.',
  ],
  [
    'CON-742',
    'docs/sessions.md#the-page',
    'On the session page a reply can be copied, the last message sent again, pictures are thumbnails, messages show the time of day, and a wide table scrolls within a phone.',
  ],
  [
    'CON-743',
    'docs/deployment-file.md#tools',
    'While a function runs, the session page shows its `activity` with the named arguments, or else its name, and no other argument.',
  ],
  [
    'CON-744',
    'docs/sessions.md#greeting',
    'A session’s page begins with the org’s opening for its deployment, else the `opening` of the version, else the org’s for all.',
  ],
  [
    'CON-745',
    'docs/console.md#the-first-hour',
    'The editor of a file shows each fault beside its line. A refused Apply scrolls to the first fault, with the reason in sight.',
  ],
  [
    'CON-746',
    'docs/console.md#the-first-hour',
    'After Apply, the page of a deployment leads on: Talk opens the playground beside the file, Run tests starts them, Make live promotes the version.',
  ],
  [
    'CON-747',
    'docs/console-sign-in.md#roles',
    'A viewer reads what a developer reads. Every change, every route that wakes a computer and the names of secrets are refused with 403 `role_missing`.',
  ],
  [
    'CON-748',
    'docs/console.md#finding-your-way',
    'No page makes a request that fails or writes an error into the browser’s log, neither for an owner nor for a viewer.',
  ],
  [
    'CON-749',
    'docs/console.md#coming-in',
    'A mistyped password shows one sentence, without a code or the id of the request.',
  ],
  [
    'CON-780',
    'docs/improving.md#improve-in-the-console',
    'A group of failures leads in two clicks to a proposal, which shows its diff, both conversations side by side, and its promotion.',
  ],
]);
