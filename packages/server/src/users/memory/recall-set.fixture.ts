/**
 * Facts of an agent's memory, each with a question in other words. The questions were written before the search was
 * measured. They avoid the words of their fact if a person would.
 */
export const recallSet: readonly { fact: string; question: string }[] = [
  // A shop.
  {
    fact: 'The customer wants parcels left with the neighbour in flat 12.',
    question: 'Where should we drop off the package if nobody answers the door?',
  },
  {
    fact: 'Returned the blue hiking boots because they were too narrow.',
    question: 'Which footwear did they send back?',
  },
  { fact: 'Wears shoe size 42 and shirts in large.', question: 'What clothing measurements do they have?' },
  { fact: 'Pays by invoice at the end of the month.', question: 'How do they prefer to settle their bills?' },
  { fact: 'Has a loyalty card with gold status.', question: 'Are they a member of the rewards program?' },
  { fact: 'The last order arrived with a cracked vase.', question: 'Was anything damaged in a previous delivery?' },
  { fact: 'Buys gifts for her niece every December.', question: 'Who does she shop for at Christmas?' },
  { fact: 'Only wants products made without plastic.', question: 'Do they have environmental requirements for goods?' },
  {
    fact: 'The warehouse in Leeds closes at four on Fridays.',
    question: 'When does the depot shut before the weekend?',
  },
  { fact: 'A refund of 35 euros for the lamp is still outstanding.', question: 'Do we owe them any money back?' },
  { fact: 'Was promised a ten percent discount on the next purchase.', question: 'Did we offer a price reduction?' },
  { fact: 'Does not want to receive the newsletter.', question: 'May I send them marketing emails?' },
  {
    fact: 'Runs a small bakery in Porto and orders flour in bulk.',
    question: 'What kind of business does the client own?',
  },
  {
    fact: 'The delivery van cannot enter the street because of road works.',
    question: 'Is there a problem getting to the address by truck?',
  },
  { fact: 'Prefers organic coffee beans, dark roast.', question: 'Which hot drink do they like?' },
  {
    fact: 'The garden furniture should be assembled by the courier.',
    question: 'Who puts together the outdoor table and chairs?',
  },
  // A clinic.
  { fact: 'Allergic to penicillin.', question: 'Which antibiotics must be avoided?' },
  { fact: 'Takes metformin for type 2 diabetes every morning.', question: 'What medicine is the patient on?' },
  { fact: 'Had a hip replacement in March 2023.', question: 'Which surgery has the patient gone through?' },
  {
    fact: 'Afraid of needles and asks to lie down during blood tests.',
    question: 'Is the patient nervous about injections?',
  },
  {
    fact: 'The next appointment with Doctor Weiss is on 14 June.',
    question: 'When will they see the physician again?',
  },
  { fact: 'Her emergency contact is her brother Paul.', question: 'Whom do we call if something happens to her?' },
  { fact: 'Needs wheelchair access to the building.', question: 'Does the patient have trouble walking up stairs?' },
  { fact: 'Is pregnant and due in October.', question: 'Is she expecting a baby?' },
  { fact: 'Insured with Helvetia, policy for the whole family.', question: 'Which company covers the health costs?' },
  { fact: 'Suffers from migraines when he sleeps badly.', question: 'What causes his headaches?' },
  { fact: 'Speaks Portuguese and needs an interpreter at visits.', question: 'What language does the patient talk?' },
  { fact: 'Blood pressure was too high at the last check.', question: 'How were the hypertension readings?' },
  { fact: 'Wears contact lenses and is short-sighted.', question: 'How good is the eyesight?' },
  { fact: 'Stopped smoking two years ago.', question: 'Does the patient use cigarettes?' },
  { fact: 'Prefers female doctors.', question: 'Should a woman do the examination?' },
  { fact: 'Wants test results by letter and never by phone.', question: 'How should we tell them the lab findings?' },
  // A person.
  { fact: 'His name is Jonas, but everybody calls him Joe.', question: 'How should I address him?' },
  { fact: 'Is a vegetarian and loves Indian food.', question: 'Does he eat meat?' },
  { fact: 'Lives in Lisbon with two cats.', question: 'Which pets are in the household?' },
  { fact: 'Married to Clara since 2015.', question: 'Who is his wife?' },
  { fact: 'Has a daughter who starts school in September.', question: 'Does the user have children?' },
  { fact: 'Plays the cello in an amateur orchestra.', question: 'Which musical instrument can they perform on?' },
  { fact: 'Gets up at five to go running.', question: 'At what time does the day begin for him?' },
  { fact: 'Hates flying and always takes the train.', question: 'How does she like to travel?' },
  { fact: 'Works as a nurse on night shifts.', question: 'What is her job?' },
  { fact: 'Wants short answers without small talk.', question: 'What style of reply is preferred?' },
  { fact: 'Celebrates the birthday on 3 May.', question: 'When was the user born?' },
  { fact: 'Is learning Japanese for a trip to Kyoto.', question: 'Which foreign language is being studied?' },
  { fact: 'Supports Liverpool and never misses a match.', question: 'What is the favourite football team?' },
  { fact: 'Drives an old electric Renault.', question: 'What car does the user have?' },
  { fact: 'Cannot be reached during the afternoon because of meetings.', question: 'When is a bad time to phone?' },
  { fact: 'Likes an aisle seat near the front.', question: 'Where on the plane do they want to sit?' },
  {
    fact: 'Is colour-blind and cannot tell red from green.',
    question: 'Does the user have a vision problem with charts?',
  },
  { fact: 'Lost his father last winter.', question: 'Has there been a death in the family?' },
  // Projects.
  {
    fact: 'The website relaunch was moved to the first week of November.',
    question: 'When does the new homepage go live?',
  },
  { fact: 'Priya leads the mobile app team.', question: 'Who is in charge of the phone application?' },
  { fact: 'The budget for the conference is 20,000 dollars.', question: 'How much money can we spend on the event?' },
  {
    fact: 'The contract with the printing company ends in August.',
    question: 'When does the agreement with the printer expire?',
  },
  {
    fact: 'Promised to send the board the sales report by Thursday.',
    question: 'What document do the directors expect this week?',
  },
  {
    fact: 'The database migration failed twice because the disk was full.',
    question: 'Why did moving the data go wrong?',
  },
  {
    fact: 'Waiting for the legal department to approve the privacy notice.',
    question: 'What are the lawyers still reviewing?',
  },
  {
    fact: 'The team writes its code in Python and deploys on Fridays.',
    question: 'Which programming language do the developers use?',
  },
  { fact: 'Weekly status meeting is on Monday at ten.', question: 'When do we get together to report progress?' },
  { fact: 'Hired two interns for the summer.', question: 'Are there any new trainees?' },
  { fact: 'The office moves to the harbour next spring.', question: 'Is the company relocating?' },
  {
    fact: 'The logo must not be changed without asking Miriam.',
    question: 'Whose permission is needed to alter the brand design?',
  },
  {
    fact: 'Customers complained that the search on the site is slow.',
    question: 'What do clients dislike about performance?',
  },
  { fact: 'The prototype is ready, the user tests start next week.', question: 'How far along is the first version?' },
  { fact: 'All invoices must carry the project number A-17.', question: 'What has to be written on the bills?' },
  {
    fact: 'The supplier raised the price of steel by eight percent.',
    question: 'Did materials become more expensive?',
  },
];

/** Questions with the exact words of a fact, to be found by words alone. `has` is a text of that fact. */
export const lookups: readonly { question: string; has: string }[] = [
  { question: 'What did Doctor Weiss schedule?', has: 'Doctor Weiss' },
  { question: 'A-17', has: 'A-17' },
  { question: 'Helvetia policy', has: 'Helvetia' },
  { question: 'What does Priya do?', has: 'Priya' },
  { question: 'Is there anything about Kyoto?', has: 'Kyoto' },
  { question: 'metformin', has: 'metformin' },
  { question: 'Who is Miriam?', has: 'Miriam' },
  { question: 'Leeds', has: 'Leeds' },
  { question: 'the neighbour in flat 12', has: 'flat 12' },
  { question: 'anything on steel prices', has: 'steel' },
  { question: 'Clara', has: 'Clara' },
  { question: 'the cracked vase', has: 'vase' },
  { question: 'How is Liverpool involved?', has: 'Liverpool' },
  { question: 'Renault', has: 'Renault' },
  { question: 'What about the interns?', has: 'interns' },
];
