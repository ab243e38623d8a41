import { area } from '../requirement.ts';
import { consoleFrame } from './console-frame.ts';

export const consoleArea = area('console', 'done', [
  ...consoleFrame,
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
    'docs/session-page.md#the-page',
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
    'docs/find-conversations.md#overview',
    '`GET /v1/overview` counts conversations, replies, failures by cause, latency, cost and pending approvals of a period, by deployment, of one org and mode.',
  ],
  [
    'CON-741',
    'docs/console.md#building-running-and-paying',
    'Home shows in one sentence whether all is well, with figures for 24 hours, 7 and 30 days and by deployment. Each cause of failures leads to its conversations.',
  ],
  [
    'CON-742',
    'docs/session-page.md#the-page',
    'On the session page a reply can be copied, the last message sent again, pictures are thumbnails, messages show the time of day, and a wide table scrolls within a phone.',
  ],
  [
    'CON-743',
    'docs/deployment-file-reference.md#tools',
    'While a function runs, the session page shows its `activity` with the named arguments, or else its name, and no other argument.',
  ],
  [
    'CON-744',
    'docs/session-page.md#greeting',
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
    'CON-751',
    'docs/find-conversations.md#overview',
    'The number of conversations of a cause is the number that `error_code` and `failed_after` list, whatever the next messages did. Home links to these.',
  ],
  [
    'CON-752',
    'docs/console.md#finding-your-way',
    'The help under a field says what an empty or switched-off field does. It names no value of JSON.',
  ],
  [
    'CON-760',
    'docs/session-page.md#the-page',
    'While a built-in tool runs, the session page says what the agent does, in its language and never by the name of the tool.',
  ],
  [
    'CON-761',
    'docs/session-page.md#the-page',
    'A reply on the session page and in the console has numbered references that open the cited passage, and the list of its sources. A mark without a passage is text.',
  ],
  [
    'CON-762',
    'docs/session-page.md#the-page',
    'A reply is revealed evenly, and nothing above its end moves while Markdown is written. With reduced motion it appears as it arrives.',
  ],
  [
    'CON-763',
    'docs/session-page.md#the-page',
    'A reader who scrolled up stays where they are while a reply grows, and a button leads to the new messages.',
  ],
  [
    'CON-753',
    'docs/console.md#building-running-and-paying',
    'In a conversation, a click on a part of a reply shows the step that wrote it.',
  ],
  [
    'CON-764',
    'docs/console.md#finding-your-way',
    'The menu of an owner fits a window of 1440 by 900 pixels. In a lower window, the chosen entry is scrolled into sight.',
  ],
  [
    'CON-754',
    'docs/console.md#the-first-hour',
    'The first hour needs no mouse: sign-in, file, talk, approval, trace, cap and promotion by keyboard, with the focus in sight.',
  ],
  [
    'CON-774',
    'docs/console.md#finding-your-way',
    'Escape closes a menu and a dialog and returns the focus, also for people who want less motion.',
  ],
  [
    'CON-780',
    'docs/improving.md#improve-in-the-console',
    'A group of failures leads in two clicks to a proposal, which shows its diff, both conversations side by side, and its promotion.',
  ],
  [
    'CON-765',
    'docs/console.md#building-running-and-paying',
    'The result of an item of a batch is one line without signs in the list, and formatted as a reply in its dialog. HTML in it is text.',
  ],
  [
    'CON-766',
    'docs/console.md#the-first-hour',
    'The plan shows a changed list by its added and removed entries, one in a line, and an added object by its fields.',
  ],
  [
    'CON-767',
    'docs/console.md#finding-your-way',
    'A page that needs a deployment begins with the one that was used last in the mode, else a live one, and keeps it.',
  ],
  [
    'CON-768',
    'docs/console.md#building-running-and-paying',
    'Files of a message in the console are links to download them, and pictures are thumbnails.',
  ],
  ['CON-769', 'docs/console.md#finding-your-way', 'A cell of a table that is cut off has its whole text as a tooltip.'],
  [
    'CON-770',
    'docs/console.md#building-running-and-paying',
    'Usage draws one bar for each day, also for a period of a single day.',
  ],
]);
