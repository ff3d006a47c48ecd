// Guided scenes along chapter 4 of H. Daumé III, "A Course in Machine Learning": the book's
// questions, each before its answer. A page is words beside a state of the lab: `toy` or `document`
// give the points and settings, `at` the step, `panel` what is open, `shows` what is drawn.

const FEW = [[1.2, 0.8, 1], [-0.9, 0.6, -1], [0.5, -1.3, -1]];
const UPDATE = [[1, 2, 1], [2, 1, 1], [-1, 1.5, 1], [-2, -1, -1], [-1, -2, -1], [2.2, -0.8, -1]]; // Figure 4.9
const WIDE = [-2.8, 2.8, -2.8, 2.8];
// Of Section 4.5, without a bias: R² is 4.68 and γ² is 0.18, so R²/γ² is 26; the angle rises at the fourth update.
const RACE = [[0.7, 0, -1], [0, -1.5, -1], [-1.7, 1, 1], [-1.2, -1.8, -1], [0.4, -0.6, -1], [-0.7, 1.7, 1], [0.1, 0.7, 1], [1.2, 0.6, -1], [-1.8, -0.1, 1], [-1.2, 1, 1]];
const SORTED_RACE = [...RACE].sort((p, q) => q[2] - p[2]);
const SQUARE = [-3, 3, -3, 3];
const SAID = [[1, 0, 1], [-1, 0, -1], [1, 1, -1], [-1, 1, 1]]; // excellent, terrible, not excellent, not terrible
// The same twelve rows, as they are and brought to mean 0 and deviation 1: 1,608 mistakes and 5.
const PAID = [[63, 0.77, -1], [67, 0.47, 1], [81, 0.32, 1], [60, 0.3, 1], [73, 0.28, 1], [77, 0.45, 1], [36, 0.5, -1], [25, 0.55, -1], [41, 0.95, -1], [40, 0.76, -1], [79, 0.61, 1], [22, 0.24, -1]];
const PAID_SCALED = [[0.37, 1.19, -1], [0.57, -0.22, 1], [1.25, -0.92, 1], [0.23, -1.02, 1], [0.86, -1.11, 1], [1.05, -0.31, 1], [-0.94, -0.08, -1], [-1.48, 0.16, -1], [-0.7, 2.03, -1], [-0.75, 1.14, -1], [1.15, 0.44, 1], [-1.62, -1.3, -1]];
const PAYING = { labels: ["late", "paid"], names: ["income, in thousands a year", "debts, as a share of it"], view: [0, 96, 0, 1.2], max_iter: 300 };
const PAYING_SCALED = { labels: ["late", "paid"], names: ["income (scaled)", "debts (scaled)"], view: [-2.5, 2.5, -2.5, 2.5] };
const RARE = [[1, 0, 1], [-1, 0, -1], [1.2, 0, 1], [-0.8, 0, -1], [0.9, 0, 1], [-1.1, 0, -1], [0.5, 1, -1], [1, -0.8, 1]]; // x₂ is seldom there

export const SCENES = [
  {
    name: "neuron", title: "The neuron", section: "Section 4.1", about: "A sum of products that fires, or does not.",
    pages: [
      {
        words: [
          "One input for each feature. Every input x is multiplied by its weight w, the products are added, and the bias b is added to them: that is the activation a. Above 0 the neuron fires and says +1, otherwise −1.",
          "Turn the arrow w by its tip, or drag the points; the drawing below follows.",
        ],
        document: { points: FEW, start: [1, 0.5, -0.3] }, panel: "neuron",
      },
      {
        words: ["A weight of 0 ignores its feature. A positive weight lets the feature speak for +1, a negative one for −1."],
        question: "A yes/no feature is usually written 1 and 0. What if somebody wrote −1 for yes?",
        answer: ["Its weight would be learned with the other sign. The product w·x is the same, and so is every activation: a feature may be written as one likes, as long as it is always written so."],
        document: { points: FEW, start: [0, 1.2, -0.3] }, panel: "neuron",
      },
      {
        words: ["Sometimes the neuron should fire only above a threshold θ, not already above 0."],
        question: "Which bias b does that?",
        answer: ["b = −θ: then a = w·x + b is above 0 exactly where w·x is above θ. Here θ = 1. Change b under Settings: the boundary moves and keeps its direction."],
        document: { points: FEW, start: [1, 0.5, -1] }, panel: "axis",
      },
    ],
  },
  {
    name: "mistake", title: "A mistake repairs itself", section: "Section 4.2", about: "What one update does, and why it helps.",
    pages: [
      {
        words: [
          "The algorithm looks at one row at a time. If it is right, nothing changes. If it is wrong, y·x is added to the weights and y to the bias.",
          "Row 2 has just been found on the wrong side: the blue arrow is the row, laid on the tip of the old w; the sum is the new w.",
        ],
        toy: "separable", at: 2, panel: "neuron",
      },
      {
        words: ["Suppose the same row came again at once."],
        question: "By how much has its activation moved, and in the right direction?",
        answer: ["a′ = (w + x)·x + (b + 1) = a + ‖x‖² + 1. That is larger than a by at least 1, and for a positive row up is right. Here ‖x‖² is 3.485, and a′ = −0.518 + 3.485 + 1 = 3.967."],
        toy: "separable", at: 2, panel: "neuron",
      },
      {
        words: ["Now a negative row, on which the activation was 0.0553."],
        question: "The book asks you to repeat the argument for y = −1. What becomes of a?",
        answer: ["The row is subtracted: a′ = a − ‖x‖² − 1, lower by at least 1. For a negative row down is right."],
        toy: "separable", at: 25, panel: "neuron",
      },
      {
        words: ["Here the weights began far on the wrong side."],
        question: "After an update, is the row always right?",
        answer: ["No. Its activation went from −3 to −1.5: better, and still wrong. It will be met again in the next pass. Press Mistake to see how it ends."],
        document: { points: [[0.5, 0.5, 1], [-1, 0.5, -1], [1, 1, 1]], start: [-3, -3, 0], view: [-3.5, 3.5, -3.5, 3.5] }, at: 1, panel: "neuron",
      },
    ],
  },
  {
    name: "zero", title: "Why y·a ≤ 0", section: "Section 4.2", about: "One test for both classes, and its equals sign.",
    pages: [
      {
        words: ["The label y is +1 or −1, so y·a is positive exactly where a has the sign of the label. One comparison serves both classes: a row is wrong where y·a ≤ 0."],
        question: "It is very important that this says ≤ and not <. Why?",
        answer: ["All weights are 0 at the start, and so is every activation. With < no row would ever be a mistake, and nothing would ever be learned. Press Step."],
        toy: "separable", at: 0, panel: "neuron",
      },
      {
        words: ["The first row: its activation is 0, which is neither side. It counts as a mistake, the row is subtracted, and training is under way."],
        toy: "separable", at: 1, panel: "neuron",
      },
      {
        words: ["Other texts let 0 mean the negative class (Settings, “An activation of 0 is”). Then the first negative row is right by luck, and the first positive one teaches."],
        question: "Why does that still work?",
        answer: ["One of the two classes still counts 0 as a mistake. Only a rule for which 0 is right for both would stand still."],
        toy: "separable", document: { zero: "negative" }, at: 2, panel: "trace",
      },
    ],
  },
  {
    name: "order", title: "The order of the rows", section: "Section 4.2", about: "All of one class first is a bad idea.",
    pages: [
      {
        words: ["“For all rows” leaves the order open. Here come fifteen positive rows, then fifteen negative ones. After row 1 every point is called positive."],
        question: "What do the other fourteen positive rows teach?",
        answer: ["Nothing: they are all right. Then two negative rows turn everything over, and the rest of the pass is quiet again. Of thirty rows three have taught."],
        toy: "sorted labels", document: { second_order: "every pass" }, at: 15, panel: "passes",
      },
      {
        words: ["The same points as given on the left, in a new random order for every pass on the right; both have seen as many rows. Move the slider."],
        question: "Which one finishes first?",
        answer: ["As given: seven passes and 17 mistakes. Shuffled: two passes and 3 mistakes with this seed, two or three passes with most others."],
        toy: "sorted labels", document: { second_order: "every pass" }, at: 45, panel: "orders",
      },
      {
        words: ["Shuffling once is better than an unlucky order; shuffling every pass saves more passes on some data, and few on most."],
        question: "When would you not shuffle in every pass?",
        answer: ["Where rows come from a disk or over a network one after the other: jumping about in them costs more than the passes it saves. Or where their order means something, as in time."],
        toy: "sorted labels", document: { order: "once", second_order: "every pass" }, at: "end", panel: "orders",
      },
    ],
  },
  {
    name: "stopping", title: "When to stop", section: "Section 4.2", about: "More passes fit these points, not the next ones.",
    pages: [
      {
        words: ["A third of the points is held out (hollow): the perceptron never learns from them. With a kernel it can bend its boundary around single points."],
        question: "What will happen to the error on the held-out points, pass after pass?",
        answer: ["Press Pass a few times, or move the slider. The error of the points learned (solid) falls; that of the points held out (dashed) falls to 30 % and then rises. That is Figure 4.3."],
        toy: "overlapping", document: { kernel: "rbf", gamma: 2, memory: "average", max_iter: 25 }, hold: true, at: 80, panel: "passes",
      },
      {
        words: ["The end of 25 passes: 12.5 % of the points learned are wrong, and 45 % of those held out. After pass 2 it was 30 %."],
        question: "So which weights would you keep?",
        answer: ["Those after pass 2, where the held-out error is least: that is early stopping. Too few passes have learned too little, which is underfitting; too many have learned the noise, which is overfitting."],
        toy: "overlapping", document: { kernel: "rbf", gamma: 2, memory: "average", max_iter: 25 }, hold: true, at: "end", panel: "passes",
      },
    ],
  },
  {
    name: "geometry", title: "Geometry", section: "Section 4.3", about: "The boundary stands on w; the bias moves it.",
    pages: [
      {
        words: ["Without a bias the activation is the dot product w·x."],
        question: "Which points have an activation of exactly 0?",
        answer: ["Those perpendicular to w: a line through the origin, at a right angle to the arrow. Turn w by the ring and the line turns with it. w points to the positive side. That is Figure 4.6."],
        toy: "separable", document: { bias: false, start: [0.9, 1.4, 0] }, panel: "neuron",
      },
      {
        words: ["Each point falls at a right angle onto the line along w. How far its foot is from the origin is w·x/‖w‖, and that is its place on the axis. A dot product is a projection (Figure 4.7)."],
        question: "What decides the class, on that axis?",
        answer: ["The side of the 0 alone. All that the perceptron ever sees of a point is this one number."],
        toy: "separable", document: { bias: false, start: [0.9, 1.4, 0] }, panel: "axis", shows: { feet: true },
      },
      {
        words: ["Pull w longer and shorter without turning it. Activations grow and shrink with it; the feet stay, and no point changes sides."],
        question: "How do you get a vector of length 1 in the same direction?",
        answer: ["Divide w by its length: w/‖w‖. Every activation is divided by the same positive number, so no sign changes."],
        toy: "separable", document: { bias: false, start: [0.45, 0.7, 0] }, panel: "axis", shows: { feet: true },
      },
      {
        words: ["The same w with a bias: b = 1.5. The direction of the boundary is the same, and so is every foot."],
        question: "What has the bias moved, and to which side?",
        answer: ["Only the threshold: on the axis it stands at −b/‖w‖ = −0.9 in place of 0, and the boundary moves against w by as much. More of the plane is positive. That is Figure 4.8."],
        toy: "separable", document: { start: [0.9, 1.4, 1.5] }, panel: "axis", shows: { feet: true },
      },
      {
        words: ["The update as a picture, without a bias (Figure 4.9): the row of the negative class is subtracted from w. The sum is the new w, and the boundary has turned until the row is on its side."],
        document: { points: UPDATE, bias: false, view: WIDE }, at: 6, panel: "neuron",
      },
    ],
  },
  {
    name: "weights", title: "What weights mean", section: "Section 4.4", about: "A real text model: what each word adds.",
    pages: [
      {
        words: ["A perceptron with one weight per word, learned from film reviews. Change the sentence; point at a word to see what it adds."],
        question: "Sort the features by their weights and look at the ends. What do you learn?",
        answer: ["The ten largest are the words that speak most for a good review, the ten lowest for a bad one. Words like “the” have weights near 0: a small change in them would change no decision. So weights explain a model, as long as all features have the same scale; here each is 0 or 1."],
        toy: "separable", panel: "words", example: 1,
      },
      {
        words: ["In this sentence “not the worst” and “not bad” are praise, more or less."],
        question: "Why does the model call it a bad review?",
        answer: ["It adds up words one by one. “worst” counts −46 wherever it stands, and “not” has a small weight of its own. A pair of words would need a feature of its own; that is the scene on XOR."],
        toy: "separable", panel: "words", example: 3,
      },
    ],
  },
  {
    name: "theorem", title: "The theorem", section: "Section 4.5", about: "Why it must stop, and how soon.",
    pages: [
      {
        words: ["No bias here, as in the book. The margin γ is the distance of the nearest point from the best boundary, drawn in green; the arrow w* of length 1 stands on it. R is the length of the longest row."],
        question: "If some line separates the points, will the perceptron find one? After how many updates?",
        answer: ["Yes: after at most R²/γ². Here γ = 0.4243 and R = 2.163, so R²/γ² = 4.68/0.18 = 26. It took 5 updates."],
        document: { points: RACE, bias: false, view: SQUARE }, at: "end", panel: "theorem",
      },
      {
        words: ["The proof is a race. Every update lifts w·w* by at least γ, so after k updates it is at least kγ. And since the row was wrong, the square of ‖w‖ grows by at most R², so ‖w‖ is at most R√k. Press Mistake and watch."],
        question: "Why can that not go on?",
        answer: ["w·w* is never longer than w itself, as w* has length 1. But kγ outruns R√k: they meet at k = R²/γ² = 26, and beyond it there is no room left for w."],
        document: { points: RACE, bias: false, view: SQUARE }, at: 2, panel: "theorem",
      },
      {
        words: ["The book says that with every update the angle between w and w* becomes smaller. Go on by Mistake and watch the angle."],
        question: "Does it, every time?",
        answer: ["No. It goes 45°, 20°, 19.7°, and then up to 30.5° at the fourth update, before it falls to 2.86°. What the proof shows is less: w·w* grows and ‖w‖ grows slowly, so their quotient, the cosine, has a floor that rises. The angle itself may turn back."],
        document: { points: RACE, bias: false, view: SQUARE }, at: 8, panel: "theorem",
      },
      {
        words: ["The same rows, all positive ones first: 3 updates in place of 5."],
        question: "The book says that a bad order can make training very long. Why does that not contradict the theorem?",
        answer: ["The theorem counts updates, not rows. In a bad order most rows pass without one. All the orders there are obey the same bound, 26."],
        document: { points: SORTED_RACE, bias: false, view: SQUARE }, at: "end", panel: "theorem",
      },
      {
        words: ["The perceptron's line in black, the widest one in green."],
        question: "Does the perceptron find the boundary of widest margin?",
        answer: ["No. It stops at the first one that separates. The theorem uses the widest one to count, and says nothing of which one is found."],
        document: { points: RACE, bias: false, view: SQUARE }, at: "end", panel: "axis", shows: { star: true },
      },
      {
        words: ["And with a bias? It is the weight of a constant third coordinate: each row becomes (x₁, x₂, 1). The theorem then holds in three dimensions, where every row is a little longer."],
        question: "What becomes of R and γ?",
        answer: ["R² grows by 1, from 4.68 to 5.68. γ is that of the unit vector (w*, b*) in three dimensions; here the best b* is 0, so γ stays 0.4243. R²/γ² is 31.56 in place of 26. The angle is now one in space: it is in the figures, not on the plane."],
        document: { points: RACE, view: SQUARE }, at: "end", panel: "theorem",
      },
    ],
  },
  {
    name: "averaging", title: "Voting and averaging", section: "Section 4.6", about: "Later rows should not count for more.",
    pages: [
      {
        words: ["These classes overlap, so training never ends by itself. Move the slider along the last passes and watch the line."],
        question: "What is wrong with keeping the last weights?",
        answer: ["They depend on the last mistake. Weights may serve a thousand rows well, and one row turns them: it counts for more than all those before it."],
        toy: "overlapping", at: "end", panel: "passes", shows: { arrows: false },
      },
      {
        words: ["Let all weight vectors of the training vote, each with as many votes as rows that it survived. Thin lines are the ones that lasted longest."],
        question: "In training, the current weights decide what is a mistake, not the vote. Why?",
        answer: ["Because they are what is to be corrected. If the vote decided, a bad vector would go uncorrected as long as its elders outvote it, and it would collect votes of its own."],
        toy: "overlapping", document: { memory: "vote" }, at: "end", panel: "passes",
      },
      {
        words: ["The vote needs every vector. Their average needs one: add each vector as often as it survived, and divide. The dotted line is the vote, the other the average."],
        question: "Where do the two differ?",
        answer: ["The vote takes the sign of each activation before it adds them, the average adds them as they are, so a long vector counts for more there. Their lines are seldom far apart."],
        toy: "overlapping", document: { memory: "average" }, at: "end", panel: "passes", shows: { vote: true, arrows: false },
      },
      {
        words: ["A third of the points is held out (hollow). The curve of its error is dashed; compare Last and Average above the plane."],
        question: "Does averaging free you from stopping early?",
        answer: ["No. It is steadier and usually better, yet after many passes it fits these points rather than the next ones. Watch the held-out error, and stop where it is least."],
        document: { memory: "average" }, toy: "overlapping", hold: true, at: "end", panel: "passes", shows: { arrows: false },
      },
    ],
  },
  {
    name: "sureness", title: "How sure each weight is", section: "Beyond the book", about: "A weight that has learned much should move little.",
    pages: [
      {
        words: ["Six rows have taught the weight of x₁, none that of x₂. AROW keeps a variance beside each weight; the ellipse around the tip of w reaches one deviation, its square root, to each side."],
        question: "Why is the ellipse narrow and tall?",
        answer: ["Each of the six rows made the variance of w₁ smaller, from 1 at first to 0.14: that weight is known to ±0.38. The variance of w₂ is still 1: of x₂ nothing is known."],
        document: { points: RARE, rule: "arow", bias: false }, at: 6, panel: "neuron",
      },
      {
        words: ["Then comes row 7, (0.5, 1) of the class −1, and it is wrong. The step is α·Σx: each feature is multiplied by the variance of its weight."],
        question: "Which of the two weights takes the blame?",
        answer: ["w₂ moves by 0.70, w₁ by 0.05, although x₁ is half as large as x₂. The perceptron would have moved w₁ by 0.5 and unlearned a good part of what six rows had said. Choose it under Settings and compare."],
        document: { points: RARE, rule: "arow", bias: false }, at: 7, panel: "neuron",
      },
      {
        words: ["The same rows with r = 10 in place of 1."],
        question: "What does r do?",
        answer: ["It says how little a single row is to be trusted: steps are shorter and variances shrink more slowly, so that one odd row does less harm, and more rows are needed. Words are like x₂: most are rare, and a text may be the only one that has them. So this rule is the default for texts."],
        document: { points: RARE, rule: "arow", r: 10, bias: false }, at: 7, panel: "neuron",
      },
    ],
  },
  {
    name: "scaling", title: "Scaling", section: "Chapter 5", about: "One column in thousands, one in shares.",
    pages: [
      {
        words: ["Twelve people: income from 22 to 81, debts from 0.24 to 0.95. A line separates those who paid in time from those who were late. The perceptron finds one after 1,608 mistakes in 270 passes."],
        question: "Why so many?",
        answer: ["One update moves the weight of income by up to 81, that of debts by less than 1, and the bias by 1. At the end they are 11, −262.6 and −534: the small columns needed hundreds of updates to get there, while income went back and forth. R²/γ² is 222,526."],
        document: { points: PAID, ...PAYING }, at: "end", panel: "passes", shows: { arrows: false },
      },
      {
        words: ["The same twelve people. From each column its mean is subtracted, and the rest divided by its standard deviation. Now it takes 5 mistakes in 3 passes."],
        question: "Does scaling change which points a line can separate?",
        answer: ["No. Each line here is a line there: divide its weights by the deviations and shift its bias. What changes is how long the search takes, and which of the many lines is found: R²/γ² is now 20.98."],
        document: { points: PAID_SCALED, ...PAYING_SCALED }, at: "end", panel: "passes",
      },
      {
        words: ["A new person comes (hollow): an income of 60 and debts of 0.4. By the means of the twelve, 55.33 and 0.5167, and their deviations, 20.54 and 0.2133, that is the place (0.23, −0.55)."],
        question: "Why not by the mean and deviation of the new rows?",
        answer: ["Then the same person would be at another place each time, depending on who comes along. Means and deviations are learned from the training rows and belong to the model, like its weights. Those of test rows must not be used: they would tell of answers that are not yet known."],
        document: { points: PAID_SCALED, held_out: [[0.23, -0.55, 1]], ...PAYING_SCALED }, at: "end", panel: "axis",
      },
    ],
  },
  {
    name: "classes", title: "Three classes", section: "Chapter 6", about: "A weight vector each; the highest score wins.",
    pages: [
      {
        words: ["Circles, squares and triangles: each class has a weight vector of its own, and so each row has three scores. The highest one is the answer. Press Mistake a few times."],
        question: "A row is wrong. Which of the three vectors must change?",
        answer: ["Two of them. The row is added to the vector of its class, whose score rises by ‖x‖², and subtracted from that of the class that had won, whose score falls by as much. The third has done nothing wrong and stays."],
        toy: "separable", panel: "classes", set: "three", step: 1,
      },
      {
        words: ["The end: all 15 rows are right after 9 mistakes. Where two regions meet, their classes have the same score."],
        question: "There are three vectors. Why are the boundaries between the classes straight?",
        answer: ["Between circles and squares the question is whether w₁·x is above w₂·x, that is, whether (w₁ − w₂)·x is above 0: a perceptron with the difference as its weights. Three classes have three such lines, and without a bias all of them meet in the origin."],
        toy: "separable", panel: "classes", set: "three", step: "end",
      },
      {
        words: ["The same machine with the circles and the squares alone. Watch the two arrows."],
        question: "Is that another algorithm than the perceptron of two classes?",
        answer: ["No. What one vector gains the other loses, so they are always opposite. Their difference is twice the w of the plain perceptron, and every mistake is the same."],
        toy: "separable", panel: "classes", set: "two", step: "end",
      },
      {
        words: ["Here the circles lie between squares and triangles. There is a bias for each class."],
        question: "No line separates the circles from all others. How can they be right?",
        answer: ["Their score need not be high: it must be higher than both others. To the left that of the squares rises, to the right that of the triangles, and between them the nearly flat score of the circles is the highest. One model for “circle or not” could not do it; three scores that are compared can."],
        toy: "separable", panel: "classes", set: "between", step: "end",
      },
    ],
  },
  {
    name: "paths", title: "Paths of tags", section: "Chapter 17", about: "A tag for each word; the best path wins.",
    pages: [
      {
        words: [
          "Each word of a sentence gets a tag: pronoun, verb, determiner or noun. A column is a word, a row a tag, and a path from left to right gives every word one tag. It scores the weight of each word with its tag and of each step from tag to tag, and the path with the highest score is the answer.",
          "All weights begin at 0, so the first answer is wrong. The true path gains, the best one loses.",
        ],
        question: "This sentence has four words, and there are four tags. How many paths are there, and must each be looked at?",
        answer: ["4 × 4 × 4 × 4 = 256, and a sentence of 25 words has more than 10¹⁵. No: of all ways to a tag of a word only the best one can be a part of the best path. So 16 sums from word to word are enough; that is Viterbi's algorithm."],
        toy: "separable", panel: "lattice", step: 1,
      },
      {
        words: ["The second pass. “book” has been a verb and a noun. The best path takes it for a pronoun, since sentences have mostly begun with one: dashed, with a score of 7. The true path has 6."],
        question: "Which weights change? Only those of “book”?",
        answer: ["Three gain and three lose. “book” as a verb gains 1 and as a pronoun loses 1; so do the steps from the start and to the determiner, which are others on the two paths. The words “a flight” and the step between them have the same tags on both: what is added is taken away again."],
        toy: "separable", panel: "lattice", step: 9,
      },
      {
        words: ["Back to the end of the first pass. “fly” has been met once, as a noun: its weight with that tag is 1, and with the verb 0. Still it is a verb here, at once."],
        question: "What makes it one?",
        answer: ["The steps. From pronoun to verb is worth 1, and a verb at the end another 1: P V scores 5 and P N only 4. Tags decide each other, which no perceptron can do that looks at each word alone."],
        toy: "separable", panel: "lattice", step: 6,
      },
      {
        words: ["The end: all six sentences are right after 6 mistakes in 3 passes. “book” is a verb in two of them and a noun in two."],
        question: "Is the theorem of the perceptron still true here?",
        answer: ["Yes. Put the difference of the two paths, what the true one has more often, in the place of y·x: an update adds it to the weights, and a mistake is a difference whose activation is not above 0. If some weights rank every true path above all others by a margin γ, there are at most R²/γ² mistakes, where R is the length of the longest difference."],
        toy: "separable", panel: "lattice", step: "end",
      },
    ],
  },
  {
    name: "xor", title: "XOR, and a third dimension", section: "Section 4.7", about: "What no line can do, and what helps.",
    pages: [
      {
        words: ["Four points: +1 where exactly one coordinate is 1. After a single pass the weights are back where they began. In this order the perceptron goes round for ever."],
        question: "Might another order, or more passes, find a line?",
        answer: ["No: there is none to be found. The next page proves it."],
        toy: "xor", at: 4, panel: "trace",
      },
      {
        words: ["Mix the two positive points half and half: that is the middle of the square. Mix the two negative ones: the same point."],
        question: "What would a separating line have to do with that point?",
        answer: ["Points on one side of a line have their mixtures on that side, too. This one would have to lie on both. For points that no line separates there always is such a meeting point."],
        toy: "xor", at: 0, panel: "proof",
      },
      {
        words: ["Add one feature: x₃ = x₁ ∧ x₂, which is 1 only where both are. The point (1, 1) rises out of the plane, and a sheet can pass below it. Turn the picture."],
        question: "Find weights and a bias that are right on all four points.",
        answer: ["For example w = (1, 1, −2) and b = −½: the activations are −½, +½, −½ and +½. The perceptron found others, after 25 mistakes."],
        toy: "xor", document: { map: "conjunction" }, at: "end", panel: "space",
      },
      {
        words: ["XOR is no toy. In a review “excellent” is praise and “terrible” is blame, and “not” turns either over. Left to right: −1 for terrible, 1 for excellent; up: whether “not” stands before it."],
        question: "What weights would the words and the pair “not and the word” need?",
        answer: ["The book's: excellent +1, terrible −1, not 0, and for the pairs −2 and +2. In these features that is w = (1, 0, −2) and b = 0: the activations are +1, −1, −1 and +1. No weights for the words alone can do it."],
        document: { points: SAID, names: ["terrible … excellent", "not"], labels: ["blame", "praise"], map: "conjunction", view: [-1.6, 1.6, -0.8, 1.8] }, at: "end", panel: "space",
      },
      {
        words: ["Back in two dimensions the flat sheet is a curve. Features that are products of others bend the boundary; with D features there are about D²/2 pairs of them."],
        question: "Must all those features be written down?",
        answer: ["No. A kernel gives their dot products without them: this is the polynomial kernel of degree 2. The weights are a sum over the rows that taught, and that is all it needs."],
        toy: "xor", document: { kernel: "polynomial" }, at: "end", panel: "neuron",
      },
    ],
  },
  {
    name: "network", title: "Two neurons solve XOR", section: "Beyond the book", about: "By hand, and where the story goes on.",
    pages: [
      {
        words: ["One line cannot do XOR; two can. The first neuron fires above its line: “x₁ or x₂”. A third neuron looks only at whether the first and the second fire."],
        question: "Set the second and the third neuron so that all four points are right.",
        answer: ["Let the second fire only at (1, 1): weights 1 and 1, bias −1.5. The third says yes to the first and a louder no to the second: 1, −2 and −0.5."],
        toy: "xor", panel: "network",
      },
      {
        words: ["The third neuron is a perceptron of two features that nobody wrote down: the network could learn them. The perceptron's rule cannot, as it says nothing of a neuron whose output is not the answer."],
        question: "How are the weights of inner neurons learned?",
        answer: ["Make every step smooth, so that the error has a slope, and pass the blame back along the weights: that is back-propagation, the subject of a later chapter of the book. All deep networks are made of these units."],
        toy: "xor", panel: "network",
      },
    ],
  },
  {
    name: "tasks", title: "Tasks", section: "For yourself, or as homework", about: "Eight things to do; the page checks them.",
    pages: [
      {
        words: ["Place 6 points at most, so that the perceptron makes at least 20 mistakes before all are right. The address keeps what you did: hand in the link."],
        hint: ["Mistakes are bounded by R²/γ²: put a long row, and two points of different classes close to each other."],
        document: { points: [], max_iter: 200 }, panel: "neuron", task: "mistakes",
      },
      {
        words: ["Move points, as few as you like, until one pass is enough: no mistake after the first."],
        toy: "separable", panel: "passes", task: "once",
      },
      {
        words: ["Draw the line yourself: pull w by its ring. Then let the perceptron learn from there. Who has fewer points wrong? You have done it when your line is at least as good as its last weights."],
        toy: "overlapping", panel: "axis", task: "line",
      },
      {
        words: ["Break the average: find points that the last weights get all right, and the average of all weights not."],
        hint: ["The average remembers the beginning. Let the first rows lead it astray, and let few rows follow."],
        toy: "separable", document: { max_iter: 100 }, at: "end", panel: "passes", task: "average",
      },
      {
        words: ["The book's question: why ≤ and not <? With < an activation of 0 would be right for both classes. Find a setting of “An activation of 0 is” under which the first row teaches nothing, and take one step."],
        toy: "separable", panel: "neuron", task: "zero",
      },
      {
        words: ["The book's question: what if a yes/no feature is −1 for yes? Here x₁ = 1 means yes. Move both points with yes to x₁ = −1 and look at w₁."],
        document: { points: [[1, 0, 1], [0, 0, -1], [1, 1, 1], [0, 1, -1]] }, at: "end", panel: "neuron", task: "signs",
      },
      {
        words: ["The book's question: find weights for x₁, x₂ and x₁ ∧ x₂ that solve XOR. Enter them under Settings, “Weights before the first row”, and stay at step 0."],
        toy: "xor", document: { map: "conjunction" }, panel: "space", task: "and",
      },
      {
        words: ["The book's question: its proof takes ‖x‖ ≤ 1. What with R in place of 1? Here R = 1.118. Move the four points so that R is about twice as long and R²/γ² stays as it is."],
        question: "What does that say about scaling all rows?", answer: ["Nothing happens: the longer the rows, the wider the margin. R²/γ² is the same for all scales, and so is every mistake."],
        document: { points: [[1, 0.5, 1], [-0.5, -1, -1], [0.5, 1, 1], [-1, -0.5, -1]], bias: false, view: SQUARE }, at: "end", panel: "theorem", task: "radius",
      },
    ],
  },
];
